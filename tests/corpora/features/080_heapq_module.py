import heapq
heap = []
for order in await find_orders():
    total = sum(i["quantity"] * i["price"] for i in order["items"])
    heapq.heappush(heap, (round(total, 2), order["id"]))
smallest = [heapq.heappop(heap) for _ in range(3)]
return [smallest, heapq.nlargest(2, heap), heapq.nsmallest(1, [3, 1, 2]), list(heapq.merge([1, 4], [2, 3]))]
