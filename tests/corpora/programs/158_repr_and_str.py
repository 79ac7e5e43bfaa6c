class Point:
    def __init__(self, x, y):
        self.x, self.y = x, y
    def __repr__(self):
        return f"Point({self.x}, {self.y})"

class Label:
    def __init__(self, text):
        self.text = text
    def __str__(self):
        return f"<{self.text}>"

points = [Point(1, 2), Point(3, 4)]
print(points[0], points)
print(str(Label("a")), f"{Label('b')}")
print({"p": points[1]}, (points[0],))
