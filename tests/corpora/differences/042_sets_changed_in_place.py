def visit(node, seen):
    seen |= {node}


seen = {1}
also = seen
visit(2, seen)
also -= {1}
return sorted(seen)
