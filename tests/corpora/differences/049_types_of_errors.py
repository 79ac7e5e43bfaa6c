"""The class of an error is compared with `is`, `==` and `in`."""


def judged(action):
    try:
        action()
    except (LookupError, ValueError, ArithmeticError) as error:
        kind = type(error)
        if kind is KeyError:
            return "key"
        return "number" if type(error) in (ValueError, ZeroDivisionError) else "other"
    return "fine"


print(type(ValueError("x")) is ValueError, type(KeyError("x")) == ValueError)
return [judged(lambda: {}["a"]), judged(lambda: int("a")), judged(lambda: [][1])]
