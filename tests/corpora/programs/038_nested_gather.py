async def customer_total(name):
    orders = await find_orders(customer=name)
    sums = [sum(i["quantity"] * i["price"] for i in o["items"]) for o in orders]
    in_dollars = await asyncio.gather(*[convert(amount=s, currency="USD") for s in sums])
    return name, round(sum(in_dollars), 2)

totals = await asyncio.gather(*[customer_total(n) for n in ("ada", "bo", "cy")])
return dict(totals)
