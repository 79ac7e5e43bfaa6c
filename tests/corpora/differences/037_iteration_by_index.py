class Pages:
    def __getitem__(self, n):
        if n > 2:
            raise IndexError(n)
        return f"page {n}"

try:
    return list(Pages())
except TypeError:
    return "not iterable"
