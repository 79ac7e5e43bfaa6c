ready = asyncio.Event()
log = []

async def waiter(name):
    await ready.wait()
    log.append(name)

async def starter():
    value = await temperature(city="Quito")
    log.append(value)
    ready.set()

await asyncio.gather(waiter("a"), waiter("b"), starter())
return log
