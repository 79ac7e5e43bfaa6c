operations = {
    "double": lambda n: n * 2,
    "square": lambda n: n ** 2,
    "negate": lambda n: -n,
    "describe": lambda n, unit="m": f"{n}{unit}",
}
numbers = [3, -1, 0.5]
return {name: [f(n) for n in numbers] for name, f in operations.items()}
