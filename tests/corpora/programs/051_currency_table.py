rows = []
for currency in ["USD", "GBP", "EUR", "JPY"]:
    try:
        rows.append({"currency": currency, "value": await convert(amount=100, currency=currency)})
    except ToolError as error:
        rows.append({"currency": currency, "value": None, "note": error.message})
print(table(rows))
len(rows)
