class Countdown:
    def __init__(self, start):
        self.start = start
    def __iter__(self):
        return self
    def __next__(self):
        if self.start <= 0:
            raise StopIteration
        self.start -= 1
        return self.start + 1

return [list(Countdown(3)), sum(Countdown(10)), dict(zip("ab", Countdown(5)))]
