class Money:
    def __init__(self, cents):
        self.cents = cents
    def __add__(self, other):
        return Money(self.cents + other.cents)
    def __radd__(self, other):
        return self if other == 0 else NotImplemented
    def __mul__(self, n):
        return Money(round(self.cents * n))
    def __lt__(self, other):
        return self.cents < other.cents
    def __str__(self):
        return f"{self.cents / 100:.2f}"

lines = [Money(round(i["price"] * 100)) * i["quantity"] for o in await find_orders(customer="ada") for i in o["items"]]
print(sum(lines), min(lines), str(max(lines) + Money(1)))
