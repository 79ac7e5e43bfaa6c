text = (await read_file(path="README.md"))["content"]
outline = []
for number, line in enumerate(text.split("\n"), 1):
    match = re.match(r"^(#+)\s+(.*)", line)
    if match:
        outline.append({"level": len(match.group(1)), "title": match.group(2), "line": number})
for entry in outline:
    print("  " * (entry["level"] - 1) + "- " + entry["title"])
outline
