def add(found, more):
    found += more
    return found


return add([1], range(2, 4))
