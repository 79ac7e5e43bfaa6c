from collections import Counter, defaultdict

pattern = re.compile(r'(?P<ip>\S+) - "(?P<method>\w+) (?P<path>\S+)" (?P<status>\d+) (?P<size>\d+)')
hits = Counter()
sizes = defaultdict(int)
failures = []
for m in pattern.finditer((await read_file(path="logs/web.log"))["content"]):
    hits[m["path"]] += 1
    sizes[m["ip"]] += int(m["size"])
    if int(m["status"]) >= 400:
        failures.append(m.groupdict())
print(hits.most_common(1))
return {"sizes": dict(sizes), "failures": failures}
