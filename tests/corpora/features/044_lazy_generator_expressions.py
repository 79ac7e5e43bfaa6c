log = []
def look(n):
    log.append(n)
    return n * n

squares = (look(n) for n in range(1_000_000))
log.append("made")
first = next(squares)
second = next(squares)
hit = next((n for n in range(100) if look(n) > 50), None)
return [first, second, hit, log]
