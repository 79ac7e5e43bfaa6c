results = {"ok": [], "failed": {}}
for order in await find_orders():
    try:
        updated = await set_status(order=order["id"], status="archived")
        results["ok"].append(updated["id"])
    except ToolError as error:
        results["failed"][order["id"]] = error.code
check = {o["id"]: o["status"] for o in await find_orders(status="archived")}
print(len(check))
results
