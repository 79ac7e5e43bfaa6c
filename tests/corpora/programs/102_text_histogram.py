values = {c: await temperature(city=c) for c in ("Oslo", "Rome", "Lima", "Quito")}
width = 20
peak = max(values.values())
for city, value in sorted(values.items(), key=lambda p: p[1]):
    bar = "#" * round(width * value / peak)
    print(f"{city:>6} |{bar:<{width}}| {value:5.1f}")
