attempts = []

async def sometimes():
    n = await increment(name="tries")
    attempts.append(n)
    if n < 3:
        return await convert(amount=1.0, currency="XXX")
    return await convert(amount=10.0, currency="USD")

value = await retry(sometimes, attempts=5, wait=0)
return {"value": value, "attempts": attempts}
