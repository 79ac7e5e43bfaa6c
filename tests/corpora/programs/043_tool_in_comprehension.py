temps = {city: await temperature(city=city) for city in ["Oslo", "Lima", "Kyiv"]}
warm = [city for city in temps if temps[city] > 10]
fahrenheit = {c: round(t * 1.8 + 32, 2) for c, t in temps.items()}
return [warm, fahrenheit]
