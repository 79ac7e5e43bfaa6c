import heapq

graph = {}
for line in (await read_file(path="data/graph.txt"))["content"].splitlines():
    a, b, weight = line.split()
    graph.setdefault(a, []).append((b, int(weight)))
    graph.setdefault(b, []).append((a, int(weight)))

def shortest(start):
    best = {start: 0}
    queue = [(0, start)]
    while queue:
        distance, node = heapq.heappop(queue)
        if distance > best.get(node, float("inf")):
            continue
        for neighbour, weight in graph[node]:
            candidate = distance + weight
            if candidate < best.get(neighbour, float("inf")):
                best[neighbour] = candidate
                heapq.heappush(queue, (candidate, neighbour))
    return best

return shortest("a")
