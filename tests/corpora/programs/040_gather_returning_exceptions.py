orders = ["A-1", "A-3", "A-77"]
outcomes = await asyncio.gather(
    *(set_status(order=o, status="checked") for o in orders), return_exceptions=True
)
for order, outcome in zip(orders, outcomes):
    if isinstance(outcome, Exception):
        print(order, "->", outcome.code)
    else:
        print(order, "->", outcome["status"])
sum(isinstance(o, ToolError) for o in outcomes)
