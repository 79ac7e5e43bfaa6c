from dataclasses import dataclass, field, asdict, replace

@dataclass
class Line:
    sku: str
    count: int = 1

@dataclass(order=True)
class Order:
    total: float
    lines: list[Line] = field(default_factory=list)

    def __post_init__(self):
        self.total = round(self.total, 2)

a = Order(10.001, [Line("rope", 2)])
b = replace(a, total=5.0)
return [asdict(a), a > b, str(Line("x")), a == Order(10.0, [Line("rope", 2)])]
