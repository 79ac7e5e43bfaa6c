people = [("ada", 30), ("bo", 25), ("cy", 30), ("di", 19)]
by_age = sorted(people, key=lambda p: (-p[1], p[0]))
return [
    by_age, any(age < 20 for _, age in people), all(age > 18 for _, age in people),
    sorted([3, 1, 2], reverse=True), min(people, key=lambda p: p[1]), max([], default=0),
    sum([0.5, 0.25], 1), list(zip("abc", [1, 2])), list(enumerate("xy", start=5)),
    list(map(str, [1, 2])), list(filter(None, [0, 1, "", "a"])), list(reversed([1, 2, 3])),
]
