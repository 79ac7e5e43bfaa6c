return [bool(map(str, [])), bool(zip()), bool(x for x in []), "any" if filter(None, [0]) else "none"]
