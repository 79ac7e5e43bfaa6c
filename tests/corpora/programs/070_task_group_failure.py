results = []

async def load(city):
    results.append(await temperature(city=city))

try:
    async with asyncio.TaskGroup() as tg:
        tg.create_task(load("Atlantis"))
except* ToolError as group:
    results.extend(e.code for e in group.exceptions)
return results
