words = (await fetch_page(page=1))["items"] + ["oar", "ora", "net", "ten", "mast", "mats", "lamp", "palm"]
groups = {}
for word in words:
    groups.setdefault("".join(sorted(word)), []).append(word)
return sorted(sorted(g) for g in groups.values() if len(g) > 1)
