name, price, n = "rope", 2.5, 1234567
lines = [
    f"{name!r:>10}|",
    f"{price:08.3f}",
    f"{n:,} {n:_} {n:x} {n:#b}",
    f"{name:*^12}",
    f"{price=}",
    f"{'nested ' + f'{name}'}",
    f"{{literal}} {n % 7:+d} {0.256:.1%}",
    f"{name:{'>'}{8}}",
]
print("\n".join(lines))
lines
