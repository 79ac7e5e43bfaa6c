from dataclasses import dataclass

@dataclass
class City:
    name: str
    degrees: float

cities = [City(n, await temperature(city=n)) for n in ("Oslo", "Cairo", "Quito")]
cities.sort(key=lambda c: c.degrees)
print(cities[0])
return [c.name for c in cities]
