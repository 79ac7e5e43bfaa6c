first, second, *rest = await list_files()
(a, b), c = (1, 2), 3
a, b = b, a
[x, [y, *z]] = [1, [2, 3, 4]]
data = {"k": [1, 2], **{"m": 5}}
for key, value in data.items():
    print(key, value)
head, *_ = "abc"
return [first, len(rest), a, b, c, x, y, z, head]
