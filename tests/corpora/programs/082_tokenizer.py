TOKENS = [("number", r"\d+(?:\.\d+)?"), ("name", r"[a-z]\w*"), ("op", r"[-+*/()=]"), ("space", r"\s+")]
pattern = re.compile("|".join(f"(?P<{name}>{regex})" for name, regex in TOKENS))

def tokens(text):
    position, out = 0, []
    while position < len(text):
        match = pattern.match(text, position)
        if match is None:
            raise ValueError(f"unexpected {text[position]!r} at {position}")
        if match.lastgroup != "space":
            out.append((match.lastgroup, match.group()))
        position = match.end()
    return out

good = tokens("rate = 2.5 * (base + 10)")
try:
    tokens("a ? b")
except ValueError as error:
    print(error)
return good
