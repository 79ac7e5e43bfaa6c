class Ship:
    count = 0
    registry = []

    def __init__(self, name, tags=()):
        Ship.count += 1
        self.name = name
        self.tags = list(tags)
        self.registry.append(name)

    def rename(self, name):
        self.name, old = name, self.name
        return old

a, b = Ship("Argo"), Ship("Beagle", ["old"])
old = a.rename("Astrid")
setattr(b, "speed", 12)
return [Ship.count, Ship.registry, old, a.name, getattr(b, "speed", 0), getattr(a, "speed", 0), hasattr(a, "tags")]
