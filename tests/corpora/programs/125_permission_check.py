ROLES = {"core": {"read", "write", "admin"}, "web": {"read", "write"}, "ops": {"read"}}

def allowed(user, *needs):
    return user["active"] and set(needs) <= ROLES.get(user["team"], set())

report = []
for user in await list_users():
    report.append(f"{user['name']}: {'yes' if allowed(user, 'read', 'write') else 'no'}")
print("\n".join(report))
sorted(ROLES["core"] - ROLES["web"] | ROLES["ops"])
