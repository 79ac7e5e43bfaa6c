values = [1, "a", 2.5, None, [1], True]
return [
    [isinstance(v, int | str) for v in values],
    [isinstance(v, (float, list)) for v in values],
    [isinstance(v, int) and not isinstance(v, bool) for v in values],
]
