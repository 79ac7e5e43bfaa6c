class Basket:
    def __init__(self, owner):
        self.owner = owner
        self.items = []

    def add(self, item, count=1):
        self.items.append([item, count])
        return self

basket = Basket("ada").add("rope", 3).add("hook")
return {"owner": basket.owner, "items": basket.items}
