values = [1, "a", 2.5, None, True, [1], (1,), {"a": 1}, {1}, b"x"]
return [type(v).__name__ for v in values]
