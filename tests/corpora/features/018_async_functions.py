async def degrees(city):
    value = await temperature(city=city)
    return round(value * 9 / 5 + 32, 1)

async def main():
    result = {}
    for city in ["Oslo", "Rome"]:
        result[city] = await degrees(city)
    return result

return await main()
