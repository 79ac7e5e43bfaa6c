def f(a, /, b, *rest, key, other="o", **more):
    return [a, b, list(rest), key, other, dict(sorted(more.items()))]

first, *middle, last = range(6)
merged = {**{"x": 1, "y": 2}, **{"y": 3}}
return [f(1, 2, 3, 4, key="k", z=9, y=8), f(*[1, 2], **{"key": 5}), first, middle, last, merged, [*middle, *"ab"]]
