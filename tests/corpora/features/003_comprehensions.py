squares = [n * n for n in range(6) if n % 2]
lengths = {word: len(word) for word in "the tide is full".split()}
unique = {c for c in "mississippi"}
pairs = [(a, b) for a in range(3) for b in "xy" if a]
grid = [[r * c for c in range(3)] for r in range(3)]
return [squares, lengths, sorted(unique), pairs, grid]
