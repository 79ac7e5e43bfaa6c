s = "  Harbour Master  "
return [
    s.strip(), s.lower().split(), s.replace("r", "R", 1), s.strip().title().swapcase(),
    "a,b,,c".split(","), "k=v=w".partition("="), "a.b.c".rsplit(".", 1), "x".join(["1", "2"]),
    "42".zfill(5), "ab".center(6, "."), "abc".find("c"), "abcabc".count("bc"), "Abc".startswith(("x", "A")),
    "12".isdigit(), "one\ntwo\r\nthree".splitlines(), "prefix-x".removeprefix("prefix-"), "ß".casefold(),
    "é".encode("utf-8").decode("utf-8"), "tab\tx".expandtabs(4), "abc"[::-1].capitalize(), "a".ljust(3) + "|",
]
