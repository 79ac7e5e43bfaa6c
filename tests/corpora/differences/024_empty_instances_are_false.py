class Bag:
    def __init__(self, items):
        self.items = items
    def __len__(self):
        return len(self.items)

return ["full" if Bag(items) else "empty" for items in ([1], [])]
