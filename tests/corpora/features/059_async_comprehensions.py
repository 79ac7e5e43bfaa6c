async def pages():
    page = 1
    while page:
        result = await fetch_page(page=page)
        yield result["items"]
        page = result["next"]

sizes = [len(items) async for items in pages()]
flat = []
async for items in pages():
    flat.extend(items)
    if len(flat) > 7:
        break
named = {c: t async for c, t in ((c, await temperature(city=c)) for c in ["Oslo", "Rome"])}
return [sizes, flat, named]
