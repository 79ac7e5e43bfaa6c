from decimal import Decimal
prices = [Decimal("19.99"), Decimal("5.01"), Decimal("0.10")]
total = sum(prices, Decimal("0"))
return [str(total), str(Decimal("1") / Decimal("8")), Decimal("0.1") + Decimal("0.2") == Decimal("0.3"), str(total.quantize(Decimal("0.1")))]
