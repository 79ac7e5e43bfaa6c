cache = {}
hits = 0
for city in ["Oslo", "Rome", "Oslo", "Lima", "Lima"]:
    if city in cache:
        hits += 1
        value = cache.pop(city)
    else:
        value = await temperature(city=city)
    cache[city] = value
    while len(cache) > 2:
        cache.pop(list(cache)[0])
return {"hits": hits, "kept": cache}
