done = []
try:
    for order in ["A-1", "A-2", "A-3"]:
        before = (await find_orders())[int(order[2:]) - 1]["status"]
        await set_status(order=order, status="locked")
        done.append((order, before))
except ToolError as error:
    print(f"failed: {error}")
    for order, before in reversed(done):
        await set_status(order=order, status=before)
return {o["id"]: o["status"] for o in await find_orders()}
