import textwrap
poem = (await read_file(path="notes/poem.txt"))["content"]
return [
    textwrap.wrap(poem, 30), textwrap.shorten(poem, 40), textwrap.dedent("    a\n      b\n"),
    textwrap.indent("x\ny", "> "), textwrap.fill("one two three four", width=9),
]
