"""Keywords come in the order in which they are written, those of `**` too."""


def shown(**values):
    return list(values.items())


base = {"x": 1, "y": 2}
print(shown(**base, z=3), shown(a=0, **base, z=3), dict(**base, z=3))
return json.dumps(dict(**base, name="last"))
