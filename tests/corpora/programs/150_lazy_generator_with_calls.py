async def first_cold(cities):
    async def look():
        for city in cities:
            yield city, await temperature(city=city)
    async for city, value in look():
        if value < 10:
            return city, value
    return None

return await first_cold(["Rome", "Kyiv", "Oslo", "Lima"])
