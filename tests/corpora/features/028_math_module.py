return [
    math.sqrt(16), math.floor(-2.5), math.ceil(2.1), math.gcd(12, 18), math.factorial(10),
    round(math.pi, 6), math.isclose(0.1 + 0.2, 0.3), math.comb(5, 2), math.log2(8), math.hypot(3, 4),
    math.trunc(-3.7), round(math.sin(math.pi / 6), 9), math.prod([2, 3, 4]), math.isnan(float("nan")),
]
