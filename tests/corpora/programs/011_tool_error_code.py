results = []
for path in ["README.md", "missing.txt", "data/matrix.txt"]:
    try:
        text = await read_file(path=path)
        results.append(f"{path}: {text['lines']} lines")
    except ToolError as e:
        results.append(f"{path}: {e.code} from {e.tool}: {e.message}")
results
