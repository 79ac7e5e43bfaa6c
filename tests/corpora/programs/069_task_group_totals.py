async def total(customer, out):
    orders = await find_orders(customer=customer)
    out[customer] = len(orders)

out = {}
try:
    async with asyncio.TaskGroup() as group:
        for customer in ["ada", "bo", "cy", "di"]:
            group.create_task(total(customer, out))
except* ToolError as errors:
    print("failed", len(errors.exceptions))
return dict(sorted(out.items()))
