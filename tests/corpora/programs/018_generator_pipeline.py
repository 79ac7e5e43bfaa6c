def lines(text):
    for line in text.splitlines():
        yield line.strip()

def non_empty(stream):
    return (line for line in stream if line)

def numbered(stream, start=1):
    for number, line in enumerate(stream, start):
        yield f"{number:02d} {line}"

text = (await read_file(path="README.md"))["content"]
result = list(numbered(non_empty(lines(text))))
print("\n".join(result))
len(result)
