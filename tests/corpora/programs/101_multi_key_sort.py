orders = await find_orders()
rows = [(o["customer"], o["placed"], len(o["items"]), o["id"]) for o in orders]
rows.sort(key=lambda r: r[1], reverse=True)
rows.sort(key=lambda r: r[0])
for customer, placed, n, id_ in rows:
    print(f"{customer:<4}{placed} {n} {id_}")
return [r[3] for r in rows]
