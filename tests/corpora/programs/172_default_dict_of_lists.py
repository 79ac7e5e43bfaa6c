from collections import defaultdict
index = defaultdict(lambda: defaultdict(int))
for order in await find_orders():
    for item in order["items"]:
        index[item["sku"]][order["customer"]] += item["quantity"]
for sku in sorted(index):
    print(sku, dict(sorted(index[sku].items())))
return {sku: sum(index[sku].values()) for sku in sorted(index)}
