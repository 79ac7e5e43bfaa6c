values = []
for name in ["a", "b", "a", "a", "c"]:
    values.append(await increment(name=name, by=len(values) + 1))
return values
