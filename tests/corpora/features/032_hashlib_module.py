import hashlib
content = (await read_file(path="notes/todo.md"))["content"]
return [
    hashlib.sha256(content.encode()).hexdigest(), hashlib.md5(b"abc").hexdigest(),
    hashlib.sha1(b"").hexdigest()[:10],
]
