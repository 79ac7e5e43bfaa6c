cities = ["Oslo", "Atlantis", "Rome"]
results = await asyncio.gather(*[temperature(city=c) for c in cities], return_exceptions=True)
return [r if isinstance(r, float) else f"{r.code}: {r}" for r in results]
