def logged(prefix):
    def wrap(function):
        def inner(*args, **kwargs):
            result = function(*args, **kwargs)
            print(prefix, args, sorted(kwargs.items()), "->", result)
            return result
        return inner
    return wrap

@logged("add")
def add(a, b=1):
    return a + b

@logged("outer")
@logged("inner")
def double(x):
    return 2 * x

return [add(2), add(2, b=5), double(4)]
