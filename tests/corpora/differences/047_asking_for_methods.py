"""What is a mapping, a list, a text, is often asked by the methods that it has."""


def kind(value):
    if hasattr(value, "items"):
        return "mapping"
    if hasattr(value, "append"):
        return "list"
    if hasattr(value, "upper"):
        return "text"
    return "iterable" if hasattr(value, "__iter__") else "single"


names = ["items", "append", "upper"]
print([[name for name in names if hasattr(value, name)] for value in ({}, [], "", 1)])
return [kind(value) for value in ({"a": 1}, [1], "a", (1,), 1)]
