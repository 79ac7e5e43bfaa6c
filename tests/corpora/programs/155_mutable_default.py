def collect(item, bag=[]):
    bag.append(item)
    return bag

def collect_fresh(item, bag=None):
    bag = [] if bag is None else bag
    bag.append(item)
    return bag

return [len(collect(1)), len(collect(2)), len(collect_fresh(1)), len(collect_fresh(2))]
