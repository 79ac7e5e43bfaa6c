import itertools
data = [("a", 1), ("a", 2), ("b", 3), ("a", 4)]
groups = [[k, [v for _, v in g]] for k, g in itertools.groupby(data, key=lambda p: p[0])]
return [
    groups, list(itertools.chain([1], [2, 3])), list(itertools.accumulate([1, 2, 3, 4])),
    list(itertools.combinations("abc", 2)), list(itertools.permutations([1, 2, 3], 2))[:3],
    list(itertools.product("ab", [1, 2])), list(itertools.islice(itertools.count(10, 5), 3)),
    list(itertools.zip_longest([1, 2], [3], fillvalue=0)), list(itertools.takewhile(lambda x: x < 3, [1, 2, 3, 1])),
    list(itertools.pairwise([1, 2, 3])), list(itertools.repeat("x", 2)),
]
