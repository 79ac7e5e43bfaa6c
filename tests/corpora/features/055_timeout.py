outcome = []
try:
    async with asyncio.timeout(0.01):
        await asyncio.sleep(30)
except TimeoutError:
    outcome.append("timeout")
async with asyncio.timeout(30):
    outcome.append(await temperature(city="Lima"))
return outcome
