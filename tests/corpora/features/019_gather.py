cities = ["Oslo", "Rome", "Lima"]
values = await asyncio.gather(*[temperature(city=c) for c in cities])
return dict(zip(cities, values))
