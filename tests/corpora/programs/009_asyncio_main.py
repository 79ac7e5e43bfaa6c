async def fetch(city):
    try:
        return city, await temperature(city=city)
    except ToolError as error:
        return city, error.code

async def main():
    results = await asyncio.gather(*(fetch(c) for c in ["Oslo", "Nowhere", "Quito"]))
    for city, value in results:
        print(f"{city}: {value}")
    return dict(results)

asyncio.run(main())
