checked = []
def fine(n):
    checked.append(n)
    return n < 2

return [all(fine(n) for n in range(6)), checked]
