counts = {}
texts = await asyncio.gather(*[read_file(path=p) for p in await list_files()])
for text in texts:
    kind = text["path"].rsplit(".", 1)[-1]
    entry = counts.setdefault(kind, {"files": 0, "lines": 0})
    entry["files"] += 1
    entry["lines"] += text["lines"]
print(json.dumps(counts, sort_keys=True))
max(counts, key=lambda k: counts[k]["lines"])
