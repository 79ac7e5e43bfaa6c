async def collect(prefix):
    return [p for p in await list_files(folder=prefix)]

first = asyncio.create_task(collect("src"))
second = asyncio.create_task(collect("data"))
src, data = await first, await second
print(len(src), len(data))
return sorted(src + data)
