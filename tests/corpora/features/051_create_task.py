async def total(customer):
    orders = await find_orders(customer=customer)
    return sum(i["quantity"] * i["price"] for o in orders for i in o["items"])

tasks = [asyncio.create_task(total(c)) for c in ("ada", "bo", "cy")]
results = [await task for task in tasks]
return [round(r, 2) for r in results] + [all(t.done() for t in tasks)]
