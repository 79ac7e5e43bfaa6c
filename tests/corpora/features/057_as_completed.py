cities = ["Oslo", "Rome", "Lima"]
values = []
for future in asyncio.as_completed([temperature(city=c) for c in cities]):
    values.append(await future)
return sorted(values)
