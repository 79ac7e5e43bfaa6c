names = []
for page in (1, 2, 3, 4):
    names += (await fetch_page(page=page))["items"]
columns = [names[n::4] for n in range(4)]
rows = list(zip(*[c[:4] for c in columns]))
rotated = names[3:] + names[:3]
names[1:3] = ["X"]
return {"columns": [len(c) for c in columns], "rows": rows[:2], "rotated": rotated[-3:], "now": names[:3], "every": names[::-5]}
