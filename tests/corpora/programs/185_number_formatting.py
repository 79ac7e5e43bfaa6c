values = [0.1 + 0.2, 1e21, 1e-7, 100.0, 1 / 3, 2 ** 0.5, -0.0, 123456789.123]
print(*values)
print([f"{v:.3g}" for v in values])
print([f"{v:,.2f}" for v in values[3:]])
return [round(2.5), round(3.5), round(-2.675, 2), round(1234, -2), 7 // 2, -7 // 2, 7 % -3, 2 ** -1, int(-3.9), float("1e3")]
