async def all_products():
    page = 1
    while page is not None:
        data = await fetch_page(page=page)
        for item in data["items"]:
            yield item
        page = data["next"]

long_names = []
async for name in all_products():
    if len(name) > 5:
        long_names.append(name)
    if name == "bell":
        break
return long_names
