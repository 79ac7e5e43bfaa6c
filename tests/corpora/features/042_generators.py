def countdown(n):
    while n > 0:
        yield n
        n -= 1

def fibonacci():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b

def chunks(items, size):
    for start in range(0, len(items), size):
        yield items[start:start + size]

first = []
for n in fibonacci():
    if n > 50:
        break
    first.append(n)
echo = countdown(3)
return [list(countdown(4)), first, [list(c) for c in chunks("abcdefg", 3)], next(echo), next(echo), next(echo), next(echo, "end")]
