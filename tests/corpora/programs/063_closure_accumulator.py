def make_average():
    values = []
    def add(value):
        values.append(value)
        return sum(values) / len(values)
    return add

average = make_average()
for city in ["Oslo", "Rome", "Lima"]:
    print(city, round(average(await temperature(city=city)), 3))
