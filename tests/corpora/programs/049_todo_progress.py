items = re.findall(r"- \[( |x)\] (.+)", (await read_file(path="notes/todo.md"))["content"])
done = [text for mark, text in items if mark == "x"]
percent = 100 * len(done) / len(items)
return f"{percent:.0f}% done, left: {', '.join(t for m, t in items if m == ' ')}"
