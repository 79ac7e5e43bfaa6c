def merge(into, more):
    into |= more
    into &= more


one = set("ab")
merge(one, set("bc"))
return sorted(one)
