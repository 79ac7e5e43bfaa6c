import heapq
tasks = []
for n, issue in enumerate(await github.list_issues()):
    priority = 0 if "urgent" in issue["labels"] else 1 if "bug" in issue["labels"] else 2
    heapq.heappush(tasks, (priority, -issue["comments"], n, issue["title"]))
order = []
while tasks:
    order.append(heapq.heappop(tasks)[-1])
return order
