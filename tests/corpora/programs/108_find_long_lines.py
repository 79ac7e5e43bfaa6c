found = []
for path in [p for p in await list_files() if p.endswith((".py", ".md"))]:
    content = (await read_file(path=path))["content"]
    found += [(path, n, len(line)) for n, line in enumerate(content.splitlines(), 1) if len(line) > 35]
found.sort(key=lambda f: -f[2])
return found[:5]
