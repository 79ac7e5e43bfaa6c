"""`pow` with a negative power and a modulus gives the inverse."""


def inverse(number, modulus):
    try:
        return pow(number, -1, modulus)
    except ValueError:
        return None


return [inverse(3, 7), inverse(10, 17), inverse(2, 4)]
