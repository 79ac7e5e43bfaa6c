def candidates():
    for n in range(1, 1000):
        print("try", n)
        yield n * n

found = next(value for value in candidates() if value % 7 == 2)
return found
