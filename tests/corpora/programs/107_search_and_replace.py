changed = []
for path in await list_files(folder="src"):
    before = (await read_file(path=path))["content"]
    after = re.sub(r"\bload\b", "load_ships", before)
    if after != before:
        await write_file(path=path, content=after)
        changed.append([path, before.count("load"), after.count("load_ships")])
changed
