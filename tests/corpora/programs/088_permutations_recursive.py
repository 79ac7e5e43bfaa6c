def permutations(items):
    if len(items) <= 1:
        return [items]
    return [[item] + rest for i, item in enumerate(items) for rest in permutations(items[:i] + items[i + 1:])]

def subsets(items):
    if not items:
        return [[]]
    rest = subsets(items[1:])
    return rest + [[items[0]] + r for r in rest]

return [len(permutations(list("abcd"))), permutations([1, 2, 3])[3], sorted(subsets(["x", "y"]))]
