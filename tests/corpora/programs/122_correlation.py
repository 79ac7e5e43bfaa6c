import statistics
users = await list_users()
orders = await find_orders()
quantity = [sum(i["quantity"] for i in o["items"]) for o in orders]
price = [max(i["price"] for i in o["items"]) for o in orders]
print(statistics.median(quantity), statistics.fmean(price))
return round(statistics.correlation(quantity, price), 6)
