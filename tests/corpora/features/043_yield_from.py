def walk(tree):
    if isinstance(tree, list):
        for branch in tree:
            yield from walk(branch)
    else:
        yield tree

def outer():
    result = yield from inner()
    yield f"got {result}"

def inner():
    received = yield 1
    return received

g = outer()
seen = [next(g), g.send("sent")]
return [list(walk([1, [2, [3, 4]], 5])), seen]
