from collections import deque

edges = {}
for line in (await read_file(path="data/graph.txt"))["content"].splitlines():
    a, b, _ = line.split()
    edges.setdefault(a, set()).add(b)
    edges.setdefault(b, set()).add(a)

def path(start, goal):
    queue = deque([[start]])
    seen = {start}
    while queue:
        route = queue.popleft()
        if route[-1] == goal:
            return route
        for step in sorted(edges[route[-1]] - seen):
            seen.add(step)
            queue.append(route + [step])
    return None

return path("a", "e")
