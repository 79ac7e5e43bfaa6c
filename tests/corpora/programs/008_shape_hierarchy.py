import math

class Shape:
    def area(self):
        raise NotImplementedError

    def __str__(self):
        return f"{type(self).__name__}({self.area():.2f})"

class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2

class Rectangle(Shape):
    def __init__(self, width, height):
        self.width, self.height = width, height

    def area(self):
        return self.width * self.height

class Square(Rectangle):
    def __init__(self, side):
        super().__init__(side, side)

shapes = [Circle(1), Rectangle(2, 3.5), Square(4)]
for shape in shapes:
    print(shape)
return sorted(str(s) for s in shapes)
