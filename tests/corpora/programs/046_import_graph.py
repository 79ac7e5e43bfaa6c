graph = {}
for path in await list_files(folder="src"):
    content = (await read_file(path=path))["content"]
    names = set()
    for line in content.splitlines():
        if m := re.match(r"import (.+)", line):
            names.update(part.strip() for part in m.group(1).split(","))
        elif m := re.match(r"from (\w+) import", line):
            names.add(m.group(1))
    graph[path] = sorted(names)
graph
