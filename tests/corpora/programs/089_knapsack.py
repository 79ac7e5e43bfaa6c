from functools import lru_cache

items = []
for order in await find_orders():
    value = int(sum(i["quantity"] * i["price"] for i in order["items"]))
    weight = sum(i["quantity"] for i in order["items"])
    items.append((order["id"], weight, value))

@lru_cache(None)
def best(i, room):
    if i == len(items):
        return 0, ()
    skip = best(i + 1, room)
    name, weight, value = items[i]
    if weight > room:
        return skip
    total, names = best(i + 1, room - weight)
    return max(skip, (total + value, (name, *names)))

best(0, 40)
