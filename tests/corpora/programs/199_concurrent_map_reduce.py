async def count(path):
    text = (await read_file(path=path))["content"]
    counts = {}
    for word in re.findall(r"[A-Za-z]{4,}", text):
        counts[word.lower()] = counts.get(word.lower(), 0) + 1
    return counts

paths = await list_files()
total = {}
for group in batched(paths, 6):
    for counts in await asyncio.gather(*map(count, group)):
        for word, n in counts.items():
            total[word] = total.get(word, 0) + n
top = sorted(total.items(), key=lambda kv: (-kv[1], kv[0]))[:4]
print(top)
await write_file(path="out/words.json", content=json.dumps(dict(top)))
dict(top)
