orders = await find_orders(status="open")
lines = ["# Open orders", ""]
for order in orders:
    lines.append(f"- {order['id']} for {order['customer']}: {len(order['items'])} items")
text = "\n".join(lines) + "\n"
written = await write_file(path="reports/open.md", content=text)
again = await read_file(path="reports/open.md")
return [written["created"], again["content"] == text, again["lines"]]
