import sys
print("a", "b", 3, sep="-", end="!\n")
print("to errors", file=sys.stderr)
print()
print([1, "two", None], {"k": (1,)}, 1.0, True)
print(*"xyz", sep="\n")
