class Shape:
    sides = 0
    def __init__(self, name):
        self.name = name
    def area(self):
        return 0
    def describe(self):
        return f"{self.name}: {self.area()} ({self.sides})"

class Square(Shape):
    sides = 4
    def __init__(self, a):
        super().__init__("square")
        self.a = a
    def area(self):
        return self.a ** 2

class Tile(Square):
    def describe(self):
        return "tile " + super().describe()

shapes = [Shape("none"), Square(3), Tile(2)]
return [[s.describe() for s in shapes], isinstance(shapes[2], Shape), issubclass(Tile, Square)]
