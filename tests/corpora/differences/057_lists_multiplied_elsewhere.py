"""Lists that are multiplied in place: in attributes, dicts and arguments."""


class Box:
    def __init__(self):
        self.items = [1]


def doubled(items):
    items *= 2
    return items


box, kept, given = Box(), {"items": [2]}, [3]
also, too = box.items, kept["items"]
box.items *= 2
kept["items"] *= 2
doubled(given)
return [also, too, given]
