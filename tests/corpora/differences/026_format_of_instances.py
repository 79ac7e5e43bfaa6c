class Money:
    def __init__(self, cents):
        self.cents = cents
    def __format__(self, spec):
        return f"{self.cents / 100:.2f}"

return f"{Money(1250)} euros".split(" at 0x")[0]
