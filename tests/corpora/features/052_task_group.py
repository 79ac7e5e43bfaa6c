results = {}
async def load(city):
    results[city] = await temperature(city=city)

async with asyncio.TaskGroup() as group:
    for city in ["Oslo", "Rome", "Cairo"]:
        group.create_task(load(city))
return sorted(results.items())
