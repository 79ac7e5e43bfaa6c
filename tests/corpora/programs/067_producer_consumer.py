queue = asyncio.Queue(maxsize=2)
results = {}

async def producer():
    for city in ["Oslo", "Rome", "Lima", "Cairo"]:
        await queue.put(city)
    await queue.put(None)

async def consumer():
    while (city := await queue.get()) is not None:
        results[city] = await temperature(city=city)

await asyncio.gather(producer(), consumer())
return results
