page, seen, wanted = 1, 0, None
while True:
    data = await fetch_page(page=page)
    for position, name in enumerate(data["items"]):
        seen += 1
        if name.startswith("c") and name != "chart":
            wanted = (page, position, name)
            break
    if wanted or data["next"] is None:
        break
    page = data["next"]
return {"wanted": wanted, "seen": seen}
