cities = ["Oslo", "Rome", "Lima"]
temps = [await temperature(city=c) for c in cities]
for rank, (value, city) in enumerate(sorted(zip(temps, cities), reverse=True), start=1):
    print(f"{rank}. {city:<5} {value:>6.2f}°")
deltas = [round(b - a, 2) for a, b in zip(temps, temps[1:])]
return {"deltas": deltas, "index": {c: i for i, c in enumerate(cities)}}
