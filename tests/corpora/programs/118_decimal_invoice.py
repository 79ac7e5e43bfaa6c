from decimal import Decimal, ROUND_HALF_UP
total = Decimal("0")
for order in await find_orders(customer="bo"):
    for item in order["items"]:
        line = Decimal(str(item["price"])) * item["quantity"]
        total += line
        print(f"{item['sku']:<8}{line:>10}")
tax = (total * Decimal("0.25")).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP)
return {"net": str(total), "tax": str(tax), "gross": str(total + tax)}
