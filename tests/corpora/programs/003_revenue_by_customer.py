orders = await find_orders()
revenue = {}
for order in orders:
    if order["status"] == "cancelled":
        continue
    amount = sum(item["quantity"] * item["price"] for item in order["items"])
    revenue[order["customer"]] = revenue.get(order["customer"], 0) + amount
for customer, amount in sorted(revenue.items(), key=lambda pair: -pair[1]):
    print(f"{customer:<6}{amount:>10.2f}")
return {k: round(v, 2) for k, v in revenue.items()}
