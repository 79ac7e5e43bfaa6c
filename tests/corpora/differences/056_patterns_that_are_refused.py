"""Patterns and replacements of other dialects are errors."""


def tried(action):
    try:
        return action()
    except (re.error, IndexError):
        return "refused"


print(tried(lambda: re.findall(r"\p{L}+", "abc")), tried(lambda: re.findall(r"(?<=a+)b", "aab")))
return [tried(lambda: re.sub(r"(a)", r"\2", "ab")), tried(lambda: re.sub(r"a", r"\g<x>", "ab"))]
