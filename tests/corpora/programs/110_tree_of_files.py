tree = {}
for path in await list_files():
    node = tree
    *folders, name = path.split("/")
    for folder in folders:
        node = node.setdefault(folder, {})
    node[name] = None

def show(node, indent=""):
    for name in sorted(node):
        if node[name] is None:
            print(indent + name)
        else:
            print(indent + name + "/")
            show(node[name], indent + "  ")

show(tree)
sorted(tree)
