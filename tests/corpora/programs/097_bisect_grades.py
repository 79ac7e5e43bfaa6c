import bisect
limits = [10, 50, 200, 1000]
names = ["tiny", "small", "medium", "large", "huge"]
sizes = {}
for order in await find_orders():
    total = sum(i["quantity"] * i["price"] for i in order["items"])
    sizes[order["id"]] = names[bisect.bisect_right(limits, total)]
sizes
