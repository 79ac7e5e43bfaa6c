def visit(n):
    print("visit", n)
    return n * 10

for value in map(visit, range(5)):
    print("got", value)
    if value == 20:
        break
