users = await list_users()

def children(manager):
    return [u for u in users if u["manager"] == manager]

def draw(manager, depth=0):
    lines = []
    for user in children(manager):
        lines.append("  " * depth + user["name"] + ("" if user["active"] else " (away)"))
        lines.extend(draw(user["id"], depth + 1))
    return lines

chart = draw(None)
print("\n".join(chart))
return max(len(line) - len(line.lstrip()) for line in chart) // 2
