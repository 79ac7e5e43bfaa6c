MISSING = object()
settings = {"a": None, "b": 0}
def look(key, default=MISSING):
    value = settings.get(key, MISSING)
    if value is not MISSING:
        return value
    if default is MISSING:
        raise KeyError(key)
    return default

out = [look("a"), look("b"), look("c", 5)]
try:
    look("c")
except KeyError as error:
    out.append(error.args[0])
out
