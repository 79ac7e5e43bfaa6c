async def slow_answer():
    await asyncio.sleep(60)
    return "slow"

try:
    answer = await asyncio.wait_for(slow_answer(), timeout=0.01)
except asyncio.TimeoutError:
    answer = f"fallback {await temperature(city='Oslo')}"
answer
