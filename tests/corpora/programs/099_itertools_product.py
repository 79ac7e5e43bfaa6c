from itertools import product, combinations

sizes, colours = ["S", "M"], ["red", "blue", "green"]
variants = [f"{s}-{c}" for s, c in product(sizes, colours)]
pairs = list(combinations(sorted(c[0] for c in colours), 2))
print(len(variants))
return [variants, pairs]
