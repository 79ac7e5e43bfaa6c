values = map(str, [1, 2])
try:
    return len(values)
except TypeError:
    return "no length"
