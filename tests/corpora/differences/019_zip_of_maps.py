order = []
def left(n):
    order.append(f"l{n}")
    return n
def right(n):
    order.append(f"r{n}")
    return n
pairs = [a + b for a, b in zip(map(left, [1, 2]), map(right, [3, 4]))]
return [pairs, order]
