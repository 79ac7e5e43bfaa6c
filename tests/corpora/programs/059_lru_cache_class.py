class Cache:
    def __init__(self, size):
        self.size = size
        self.data = {}
        self.hits = 0

    async def get(self, city):
        if city in self.data:
            self.hits += 1
            self.data[city] = self.data.pop(city)
            return self.data[city]
        value = await temperature(city=city)
        self.data[city] = value
        if len(self.data) > self.size:
            oldest = next(iter(self.data))
            del self.data[oldest]
        return value

cache = Cache(2)
values = [await cache.get(c) for c in ["Oslo", "Rome", "Oslo", "Lima", "Rome", "Oslo"]]
return {"values": values, "hits": cache.hits, "kept": list(cache.data)}
