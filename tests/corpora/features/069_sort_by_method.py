names = ["bo", "Ada", "cy", "Di"]
names_sorted = sorted(names, key=str.lower)
names.sort(key=len)
return [names_sorted, names, list(map(str.upper, "ab")), sorted(["10", "9"], key=int)]
