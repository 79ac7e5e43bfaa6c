from functools import partial
async def priced(amount, currency, prefix=""):
    return f"{prefix}{await convert(amount=amount, currency=currency)}"

dollars = partial(priced, currency="USD", prefix="$")
yen = partial(priced, currency="JPY", prefix="¥")
return [await dollars(10), await yen(2.5), await dollars(amount=0)]
