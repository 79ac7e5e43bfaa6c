text = "rope 3, hook 14"
doubled = re.sub(r"\d+", lambda m: str(2 * int(m.group())), text)
def shout(match):
    return match.group(1).upper() + "!"
return [doubled, re.sub(r"\b([a-z]+)\b", shout, text), re.subn("o", "0", text)]
