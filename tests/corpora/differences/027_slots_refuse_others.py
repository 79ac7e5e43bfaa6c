class Point:
    __slots__ = ("x", "y")

p = Point()
p.x = 1
try:
    p.z = 3
    return "taken"
except AttributeError:
    return "refused"
