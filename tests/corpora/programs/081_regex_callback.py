template = "Dear {name}, it is {temp} degrees in {city}. {unknown}"
values = {"name": "Ada", "city": "Rome", "temp": await temperature(city="Rome")}

def fill(match):
    return str(values.get(match.group(1), match.group(0)))

return re.sub(r"\{(\w+)\}", fill, template)
