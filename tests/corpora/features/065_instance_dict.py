class Box:
    def __init__(self, a, b):
        self.a = a
        self.b = b

box = Box(1, [2])
box.c = 3
return [box.__dict__, vars(box) is box.__dict__, sorted(k for k in Box.__dict__ if not k.startswith("_"))]
