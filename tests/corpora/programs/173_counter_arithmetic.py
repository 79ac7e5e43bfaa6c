from collections import Counter
orders = await find_orders()
sold = Counter()
for order in orders:
    for item in order["items"]:
        sold[item["sku"]] += item["quantity"]
stock = Counter(rope=150, hook=10, sail=2)
missing = sold - stock
print(sold.most_common(2), sum(sold.values()))
return {"missing": dict(missing), "left": dict(stock - sold), "none": sold["nothing"]}
