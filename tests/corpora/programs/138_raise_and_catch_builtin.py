def check(value):
    if not isinstance(value, (int, float)):
        raise TypeError(f"not a number: {value!r}")
    if value < 0:
        raise ValueError("negative")
    return math.sqrt(value)

out = []
for value in (9, -1, "x", 2.25):
    try:
        out.append(check(value))
    except (TypeError, ValueError) as error:
        out.append(f"{type(error).__name__}: {error}")
out
