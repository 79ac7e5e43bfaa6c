intervals = [(1, 3), (8, 10), (2, 6), (15, 18), (17, 20), (10, 11)]
merged = []
for start, end in sorted(intervals):
    if merged and start <= merged[-1][1]:
        merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
    else:
        merged.append((start, end))
free = [(a[1], b[0]) for a, b in zip(merged, merged[1:])]
return {"merged": merged, "free": free, "covered": sum(e - s for s, e in merged)}
