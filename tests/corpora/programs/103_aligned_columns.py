rows = [("id", "customer", "total")]
for order in await find_orders():
    total = sum(i["quantity"] * i["price"] for i in order["items"])
    rows.append((order["id"], order["customer"], f"{total:,.2f}"))
widths = [max(len(row[n]) for row in rows) for n in range(3)]
for row in rows:
    print("  ".join(cell.ljust(w) if n < 2 else cell.rjust(w) for n, (cell, w) in enumerate(zip(row, widths))))
return widths
