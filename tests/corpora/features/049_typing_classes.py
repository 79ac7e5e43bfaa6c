from typing import NamedTuple, Optional, TypedDict

class Row(TypedDict, total=False):
    name: str
    size: int

class Point(NamedTuple):
    x: int
    y: int = 0

def area(row: Row, scale: Optional[float] = None) -> float:
    return row["size"] * (scale or 1)

p = Point(3)
return [area({"name": "a", "size": 4}, 2.5), p.x, p.y, p._asdict(), list(p), Row(name="z")]
