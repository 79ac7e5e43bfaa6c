from dataclasses import dataclass, field

@dataclass
class Line:
    sku: str
    quantity: int
    price: float

    @property
    def total(self) -> float:
        return self.quantity * self.price

@dataclass
class Order:
    id: str
    customer: str
    lines: list[Line] = field(default_factory=list)

    @property
    def total(self) -> float:
        return round(sum(line.total for line in self.lines), 2)

orders = [
    Order(o["id"], o["customer"], [Line(**item) for item in o["items"]])
    for o in await find_orders(customer="ada")
]
largest = max(orders, key=lambda o: o.total)
print(largest.lines[0])
return [[o.id, o.total] for o in orders] + [largest.id]
