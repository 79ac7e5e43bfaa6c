from datetime import date

today = date(2026, 3, 1)

def age(born):
    born = date.fromisoformat(born)
    return today.year - born.year - ((today.month, today.day) < (born.month, born.day))

people = json.loads((await read_file(path="data/people.json"))["content"])
return {p["name"]: age(p["born"]) for p in people}
