class Item:
    def __init__(self, name, quantity, price):
        self.name = name
        self.quantity = quantity
        self.price = price

    def total(self):
        return self.quantity * self.price

class Inventory:
    def __init__(self):
        self.items = {}

    def add(self, item):
        if item.name in self.items:
            self.items[item.name].quantity += item.quantity
        else:
            self.items[item.name] = item

    def value(self):
        return sum(item.total() for item in self.items.values())

inventory = Inventory()
for order in await find_orders(status="paid"):
    for line in order["items"]:
        inventory.add(Item(line["sku"], line["quantity"], line["price"]))
print(sorted(inventory.items))
round(inventory.value(), 2)
