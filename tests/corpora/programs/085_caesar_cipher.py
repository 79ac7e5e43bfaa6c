def shift(text, n):
    out = []
    for char in text:
        if char.isalpha() and char.isascii():
            base = ord("a") if char.islower() else ord("A")
            out.append(chr((ord(char) - base + n) % 26 + base))
        else:
            out.append(char)
    return "".join(out)

poem = (await read_file(path="notes/poem.txt"))["content"]
secret = shift(poem, 13)
print(secret.splitlines()[0])
return shift(secret, 13) == poem
