def cheap(order):
    print("look at", order["id"])
    return all(i["price"] < 10 for i in order["items"])

for order in filter(cheap, await find_orders()):
    print("first:", order["id"])
    break
