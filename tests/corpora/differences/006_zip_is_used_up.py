pairs = zip("ab", [1, 2])
first = dict(pairs)
return [first, list(pairs)]
