counter = 0

def bump(by):
    global counter, last
    counter += by
    last = by

bump(2)
bump(5)
return [counter, last]
