checked = []
def is_large(order):
    checked.append(order["id"])
    return sum(i["quantity"] for i in order["items"]) > 100

orders = await find_orders()
found = any(is_large(o) for o in orders)
return {"found": found, "checked": checked}
