fast = await asyncio.wait_for(temperature(city="Rome"), timeout=30)
try:
    await asyncio.wait_for(asyncio.sleep(30), timeout=0.01)
    late = "no"
except asyncio.TimeoutError:
    late = "timeout"
return [fast, late]
