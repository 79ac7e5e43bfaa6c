def report(title, *rows, sep=" | ", **options):
    lines = [title.upper() if options.get("loud") else title]
    for row in rows:
        lines.append(sep.join(str(cell) for cell in row))
    if "total" in options:
        lines.append(f"total: {options['total']}")
    return lines

rows = [(o["id"], o["status"]) for o in await find_orders(customer="ada")]
print("\n".join(report("orders", *rows, loud=True, total=len(rows))))
report("empty", sep="-")
