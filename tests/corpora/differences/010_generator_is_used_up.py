orders = await find_orders()
amounts = (i["quantity"] for o in orders for i in o["items"])
return [sum(amounts), sum(amounts)]
