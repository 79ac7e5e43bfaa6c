lock = asyncio.Lock()
total = 0.0

async def add(order):
    global total
    amount = sum(i["quantity"] * i["price"] for i in order["items"])
    converted = await convert(amount=amount, currency="NOK")
    async with lock:
        total += converted

await asyncio.gather(*[add(o) for o in await find_orders(status="open")])
return round(total, 2)
