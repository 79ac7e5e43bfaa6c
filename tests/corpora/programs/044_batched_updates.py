paths = await list_files()
for batch in batched(paths, 5):
    texts = await asyncio.gather(*[read_file(path=p) for p in batch])
    print(sum(t["lines"] for t in texts))
len(paths)
