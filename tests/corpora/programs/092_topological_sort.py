needs = {"deploy": ["test", "build"], "test": ["build"], "build": ["fetch"], "fetch": [], "docs": ["fetch"]}

def order(graph):
    done, visiting, out = set(), set(), []
    def visit(node):
        if node in done:
            return
        if node in visiting:
            raise ValueError(f"cycle at {node}")
        visiting.add(node)
        for need in sorted(graph[node]):
            visit(need)
        visiting.discard(node)
        done.add(node)
        out.append(node)
    for node in sorted(graph):
        visit(node)
    return out

result = order(needs)
try:
    order({"a": ["b"], "b": ["a"]})
except ValueError as error:
    result.append(str(error))
result
