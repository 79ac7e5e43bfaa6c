text = (await read_file(path="CHANGELOG.md"))["content"]
versions = []
for block in re.split(r"^## ", text, flags=re.M)[1:]:
    head, *notes = block.strip().split("\n")
    version, date = head.split(" - ")
    versions.append({"version": tuple(int(p) for p in version.split(".")), "date": date, "notes": [n[2:] for n in notes if n]})
latest = max(versions, key=lambda v: v["version"])
print(latest["notes"])
[v["date"] for v in versions]
