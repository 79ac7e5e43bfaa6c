import hashlib

await write_file(path="copy/poem.txt", content=(await read_file(path="notes/poem.txt"))["content"])
by_hash = {}
for path in await list_files():
    content = (await read_file(path=path))["content"]
    digest = hashlib.sha256(content.encode()).hexdigest()[:12]
    by_hash.setdefault(digest, []).append(path)
return [paths for paths in by_hash.values() if len(paths) > 1]
