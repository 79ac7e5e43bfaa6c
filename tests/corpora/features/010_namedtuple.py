from collections import namedtuple

Point = namedtuple("Point", ["x", "y"])
a = Point(1, 2)
b = a._replace(y=9)
x, y = b
return [a.x + a.y, x, y, a == (1, 2), b[1], str(a)]
