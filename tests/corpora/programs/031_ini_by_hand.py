sections = {}
current = None
for line in (await read_file("config/settings.ini"))["content"].splitlines():
    line = line.strip()
    if not line:
        continue
    if line.startswith("[") and line.endswith("]"):
        current = sections.setdefault(line[1:-1], {})
    else:
        key, _, value = line.partition("=")
        current[key.strip()] = value.strip()
return sections
