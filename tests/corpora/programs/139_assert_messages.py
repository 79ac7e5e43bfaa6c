problems = []
for order in await find_orders():
    try:
        assert order["items"], "no items"
        assert all(i["quantity"] > 0 for i in order["items"]), "bad quantity"
        assert order["status"] != "cancelled", f"{order['id']} is cancelled"
    except AssertionError as error:
        problems.append(str(error))
problems
