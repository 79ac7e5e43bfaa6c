def make_counter():
    count = 0
    def step(by=1):
        nonlocal count
        count += by
        return count
    return step

one, two = make_counter(), make_counter()
return [one(), one(), two(5), one(10)]
