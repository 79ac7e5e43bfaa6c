async def safe(city):
    try:
        return {"city": city, "value": await temperature(city=city)}
    except ToolError as e:
        return {"city": city, "error": str(e)}

results = await asyncio.gather(*[safe(c) for c in ["Oslo", "Mars", "Cairo", "Venus"]])
good = [r for r in results if "value" in r]
bad = [r for r in results if "error" in r]
print(f"{len(good)} good, {len(bad)} bad")
results
