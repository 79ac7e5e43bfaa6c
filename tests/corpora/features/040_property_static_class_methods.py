class Temperature:
    unit = "C"
    def __init__(self, celsius):
        self._celsius = celsius

    @property
    def fahrenheit(self):
        return self._celsius * 9 / 5 + 32

    @fahrenheit.setter
    def fahrenheit(self, value):
        self._celsius = (value - 32) * 5 / 9

    @classmethod
    def freezing(cls):
        return cls(0)

    @staticmethod
    def valid(value):
        return value > -273.15

t = Temperature.freezing()
before = t.fahrenheit
t.fahrenheit = 212
return [before, t._celsius, Temperature.valid(-300), Temperature.unit]
