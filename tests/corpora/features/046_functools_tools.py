import functools

def traced(function):
    @functools.wraps(function)
    def inner(*args):
        return [inner.__name__, inner.__doc__, function(*args)]
    return inner

@traced
def add(a, b):
    """Adds."""
    return a + b

calls = []
@functools.lru_cache(maxsize=None)
def slow(n):
    calls.append(n)
    return n if n < 2 else slow(n - 1) + slow(n - 2)

ordered = sorted(["b10", "a2", "b9"], key=functools.cmp_to_key(lambda x, y: int(x[1:]) - int(y[1:])))
double = functools.partial(lambda f, x: f * x, 2)
return [add(1, 2), slow(20), len(calls), ordered, double(21), functools.reduce(lambda a, b: a * b, [1, 2, 3, 4])]
