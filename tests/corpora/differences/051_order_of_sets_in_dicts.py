"""Sets that are kept in dicts and lists."""

from collections import defaultdict

groups = defaultdict(set)
for key, number in [("a", 30), ("a", 1), ("b", 2), ("a", 22)]:
    groups[key].add(number)
print({key: list(numbers) for key, numbers in groups.items()})
kept = {}
kept.setdefault("k", set()).update([30, 1, 22])
return [list(kept["k"]), [list(numbers) for numbers in [{30, 1}, {22, 1}]]]
