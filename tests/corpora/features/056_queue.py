queue = asyncio.Queue()
done = []

async def worker():
    while True:
        city = await queue.get()
        if city is None:
            return
        done.append([city, await temperature(city=city)])
        queue.task_done()

for city in ["Oslo", "Rome", "Lima", "Quito"]:
    queue.put_nowait(city)
for _ in range(2):
    queue.put_nowait(None)
await asyncio.gather(worker(), worker())
return sorted(done)
