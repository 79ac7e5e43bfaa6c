class Tree:
    def __init__(self):
        self.root = None

    def insert(self, key):
        if self.root is None:
            self.root = [key, None, None]
            return
        node = self.root
        while True:
            side = 1 if key < node[0] else 2
            if node[side] is None:
                node[side] = [key, None, None]
                return
            node = node[side]

def in_order(node):
    return in_order(node[1]) + [node[0]] + in_order(node[2]) if node else []

def depth(node):
    return 1 + max(depth(node[1]), depth(node[2])) if node else 0

tree = Tree()
for order in await find_orders():
    tree.insert(round(sum(i["quantity"] * i["price"] for i in order["items"]), 2))
return {"sorted": in_order(tree.root), "depth": depth(tree.root)}
