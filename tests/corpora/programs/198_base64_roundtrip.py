import base64
text = (await read_file(path="notes/todo.md"))["content"]
encoded = base64.b64encode(text.encode("utf-8")).decode("ascii")
await write_file(path="out/todo.b64", content=encoded)
back = base64.b64decode((await read_file(path="out/todo.b64"))["content"]).decode()
return [len(encoded), back == text, encoded[:12]]
