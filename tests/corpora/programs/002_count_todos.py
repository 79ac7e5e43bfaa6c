# Count TODO and FIXME comments in the sources.
counts = {}
for path in await list_files(folder="src"):
    text = (await read_file(path=path))["content"]
    found = re.findall(r"#\s*(TODO|FIXME)", text)
    if found:
        counts[path] = len(found)
print(f"{sum(counts.values())} comments in {len(counts)} files")
counts
