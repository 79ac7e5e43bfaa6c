def encode(text):
    out = []
    for char in text:
        if out and out[-1][0] == char:
            out[-1][1] += 1
        else:
            out.append([char, 1])
    return "".join(f"{c}{n}" for c, n in out)

def decode(code):
    return "".join(c * int(n) for c, n in re.findall(r"(\D)(\d+)", code))

texts = ["aaabccd", "zzzzzzzzzzzz", ""]
return [[encode(t), decode(encode(t)) == t] for t in texts]
