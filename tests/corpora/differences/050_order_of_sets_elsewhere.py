"""Sets go into functions, attributes and results; there their order is seen."""


def listed(numbers):
    return [number for number in numbers]


def unique(numbers):
    return set(numbers)


class Seen:
    def __init__(self):
        self.numbers = set()

    def add(self, number):
        self.numbers.add(number)


seen = Seen()
for number in (30, 1, 22):
    seen.add(number)
print([number for number in seen.numbers])
print([number for number in unique([30, 1, 22])])
first, *rest = unique([30, 1, 22])
return [listed({30, 1, 22}), first, rest]
