class Thermostat:
    def __init__(self, target):
        self.target = target

    @property
    def target(self):
        return self._target

    @target.setter
    def target(self, value):
        if not 5 <= value <= 30:
            raise ValueError(f"{value} is out of range")
        self._target = value

t = Thermostat(await temperature(city="Rome"))
try:
    t.target = await temperature(city="Cairo")
except ValueError as error:
    print(error)
t.target = 21
t.target
