# The warmest cities first; `limit` is an input.
names = await cities()
found = await asyncio.gather(*[weather(city=name) for name in names])
found = sorted(found, key=lambda w: w["degrees"], reverse=True)
return [w["city"] for w in found[: int(limit)]]
