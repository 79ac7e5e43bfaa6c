# Over a tree of Python files: all TODO, FIXME and XXX notes, and the ten longest functions.
# Reads every file through the tools; only the small table at the end goes back.

SKIP = ("site-packages", "dist-packages", "__pycache__", "lib-dynload")
NOTE = re.compile(r"#.*?\b(TODO|FIXME|XXX)\b")
DEF = re.compile(r"(?:async )?def (\w+)\(")


async def text_of(path):
    """A whole file; None where it is no text."""
    try:
        return path, (await read_file(path=path))["content"]
    except ToolError as e:
        print(e.code, path)
        return path, None


def functions(path, text):
    """Each function with its length in lines, read off the indentation."""
    found, open_ones, last, number = [], [], 0, 0
    for line in text.split("\n"):
        number += 1
        code = line.lstrip()
        if not code or code[0] in "#)":
            continue
        indent = len(line) - len(code)
        while open_ones and indent <= open_ones[-1][0]:
            _, start, name = open_ones.pop()
            found.append((last - start + 1, f"{path}:{start}", name))
        match = DEF.match(code) if code.startswith(("def ", "async def ")) else None
        if match:
            open_ones.append((indent, number, match.group(1)))
        last = number
    return found + [(last - start + 1, f"{path}:{start}", name) for _, start, name in open_ones]


folders, files = ["."], []
while folders:
    some, folders = folders[:20], folders[20:]
    for found in await asyncio.gather(*[find_files(pattern="*", path=path) for path in some]):
        for entry in found["entries"]:
            if entry["kind"] == "folder" and not entry["path"].endswith(SKIP):
                folders.append(entry["path"])
            elif entry["kind"] == "file" and entry["path"].endswith(".py"):
                files.append(entry["path"])

notes, longest, lines, unread = {"TODO": 0, "FIXME": 0, "XXX": 0}, [], 0, 0
for some in batched(sorted(files), 50):
    for path, text in await asyncio.gather(*[text_of(path) for path in some]):
        if text is None:
            unread += 1
            continue
        lines += text.count("\n")
        for word in NOTE.findall(text):
            notes[word] += 1
        longest = sorted(longest + functions(path, text), reverse=True)[:10]

rows = [{"lines": n, "function": name, "where": where} for n, where, name in longest]
head = f"{len(files)} files ({unread} of them no text), {lines} lines, notes: {notes}"
return f"{head}\n\n{table(rows)}"
