cities = ["Oslo", "Rome", "Nowhere", "Lima"]

async def fetch(city):
    try:
        return city, await temperature(city=city)
    except ToolError:
        return city, None

found = {}
for done in asyncio.as_completed([fetch(c) for c in cities]):
    city, value = await done
    found[city] = value
return {k: found[k] for k in sorted(found)}
