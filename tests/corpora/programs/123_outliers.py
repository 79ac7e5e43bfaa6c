import statistics
counts = {i["number"]: i["comments"] for i in await github.list_issues(state="all")}
mean, sd = statistics.mean(counts.values()), statistics.pstdev(counts.values())
return [n for n, c in counts.items() if abs(c - mean) > 1.5 * sd]
