def flatten(items):
    for item in items:
        if isinstance(item, (list, tuple)):
            yield from flatten(item)
        else:
            yield item

nested = [1, [2, (3, [4, 5])], [[[]]], "six"]
result = list(flatten(nested))
print(*result, sep=", ")
return result
