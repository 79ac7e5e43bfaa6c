users = await list_users()
teams = {}
for user in users:
    teams.setdefault(user["team"], []).append(user)
summary = []
for team, members in sorted(teams.items()):
    active = [m["name"] for m in members if m["active"]]
    summary.append({"team": team, "active": active, "inactive": len(members) - len(active)})
print(table(summary))
summary
