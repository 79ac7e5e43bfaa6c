from collections import OrderedDict
recent = OrderedDict()
for key in ["a", "b", "c", "a"]:
    recent[key] = recent.pop(key, 0) + 1
recent.move_to_end("b")
oldest = recent.popitem(last=False)
return [list(recent.items()), oldest]
