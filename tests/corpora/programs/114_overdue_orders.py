today = datetime.date(2026, 3, 10)
overdue = []
for order in await find_orders(status="open"):
    placed = datetime.datetime.strptime(order["placed"], "%Y-%m-%d").date()
    waited = (today - placed).days
    if waited > 14:
        overdue.append({"id": order["id"], "days": waited})
for entry in sorted(overdue, key=lambda e: e["days"], reverse=True):
    await send_message(to="sales", text=f"{entry['id']} waits for {entry['days']} days")
overdue
