class Level:
    def __init__(self, n):
        self.n = n
    def __lt__(self, other):
        return self.n < other.n

try:
    return "ordered" if Level(1) < Level(2) else "not"
except TypeError:
    return "cannot compare"
