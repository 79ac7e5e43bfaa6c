READ, WRITE, ADMIN = 1 << 0, 1 << 1, 1 << 2
rights = {"core": READ | WRITE | ADMIN, "web": READ | WRITE, "ops": READ}

def names(mask):
    return [n for n, bit in (("read", READ), ("write", WRITE), ("admin", ADMIN)) if mask & bit]

teams = {u["name"]: u["team"] for u in await list_users()}
result = {name: names(rights[team] & ~ADMIN) for name, team in teams.items()}
print(f"{rights['core']:03b} {rights['core'] ^ rights['ops']:03b} {rights['web'].bit_length()}")
result
