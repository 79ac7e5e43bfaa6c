from collections import Counter

log = (await read_file(path="logs/app.log"))["content"]
pattern = re.compile(r"^(\S+ \S+) (\w+) (.*)$")
levels = Counter()
errors = []
for line in log.splitlines():
    match = pattern.match(line)
    if not match:
        continue
    when, level, message = match.groups()
    levels[level] += 1
    if level == "ERROR":
        fields = dict(part.split("=") for part in message.split()[1:])
        errors.append({"when": when, **fields})
return {"levels": dict(sorted(levels.items())), "errors": errors}
