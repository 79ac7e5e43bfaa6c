async def find(predicate):
    page = 1
    while page:
        data = await fetch_page(page=page)
        for name in data["items"]:
            if predicate(name):
                return name, page
        page = data["next"]
    return None

user = await get_user(id=3)
if user["active"]:
    return "not reached"
for attempt in range(3):
    found = await find(lambda n: len(n) == 4 + attempt and n[0] == "l")
    if found:
        return {"found": found, "attempt": attempt}
return "nothing"
