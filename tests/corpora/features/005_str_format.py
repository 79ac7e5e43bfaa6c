row = {"name": "rope", "price": 2.5}
return [
    "{} and {}".format("a", "b"),
    "{1}-{0}-{1}".format("x", "y"),
    "{name}: {price:.2f}".format(**row),
    "{0[name]:>8}|{0[price]:<6}|".format(row),
    "{:,}".format(1234567),
]
