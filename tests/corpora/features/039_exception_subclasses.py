class ShipError(Exception):
    pass

class NotFound(ShipError):
    def __init__(self, name):
        super().__init__(f"{name} not found")
        self.name = name

def find(name):
    raise NotFound(name)

try:
    find("Argo")
except ShipError as error:
    return [str(error), error.name, type(error).__name__]
