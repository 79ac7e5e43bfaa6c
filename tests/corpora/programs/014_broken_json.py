try:
    data = json.loads((await read_file(path="data/broken.json"))["content"])
except json.JSONDecodeError as error:
    data = {"error": type(error).__name__}
except ToolError:
    data = {"error": "missing"}
data
