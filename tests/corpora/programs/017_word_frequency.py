from collections import Counter

text = (await read_file(path="notes/poem.txt"))["content"].lower()
words = re.findall(r"[a-z]+", text)
counts = Counter(words)
top = counts.most_common(3)
print(top)
return {"unique": len(counts), "top": top, "longest": max(words, key=len)}
