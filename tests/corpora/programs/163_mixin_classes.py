class JsonMixin:
    def to_json(self):
        return json.dumps(self.__dict__, sort_keys=True)

class Named:
    def __init__(self, name):
        self.name = name

class Ship(JsonMixin, Named):
    def __init__(self, name, tons):
        super().__init__(name)
        self.tons = tons

ship = Ship("Fram", 402)
return [ship.to_json(), [c.__name__ for c in Ship.__mro__][:3]]
