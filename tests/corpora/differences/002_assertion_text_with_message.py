temps = {c: await temperature(city=c) for c in ("Oslo", "Rome")}
problems = []
for city, value in temps.items():
    try:
        assert value > 10, f"{city} is cold"
    except AssertionError as error:
        problems.append(str(error))
problems
