def describe(thing):
    match thing:
        case {"kind": "circle", "r": r}:
            return f"circle {r}"
        case [x, y]:
            return f"point {x},{y}"
        case [first, *rest]:
            return f"list {first} +{len(rest)}"
        case int() | float() as number if number > 100:
            return "big"
        case str(text):
            return text.upper()
        case None:
            return "nothing"
        case _:
            return "other"

return [describe(t) for t in ({"kind": "circle", "r": 2}, [1, 2], [1, 2, 3], 500, "hi", None, 5)]
