users = {u["id"]: u for u in await list_users()}
reports = {}
for user in users.values():
    if user["manager"]:
        reports.setdefault(users[user["manager"]]["name"], []).append(user["name"])
by_name = {v["name"].split()[0]: k for k, v in users.items()}
return {"reports": reports, "by_name": by_name}
