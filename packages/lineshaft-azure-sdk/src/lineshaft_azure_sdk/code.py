"""Source code without its comments, in one pass: each character is looked at once."""

import re
from collections.abc import Iterator

_START = re.compile(r'//|/\*|"""|"|\'')
_CHARACTER = re.compile(r"'(?:\\[^\n][^'\n]{0,8}|[^'\\\n])'")
_REST_OF_TEXT = re.compile(r'(?:\\.|[^"\\\n])*+"?', re.DOTALL)
_REST_OF_BLOCK = re.compile(r'(?:\\.|[^"\\]|"(?!""))*+(?:""")?', re.DOTALL)


def without_comments(code: str, *, texts: bool, characters: bool = False) -> str:
    """Return code with a blank in the place of each comment.

    A comment without an end goes to the end, and so does a block of text.

    Args:
        code: Of a language with `//`, `/* */`, `"..."` and blocks of text between three quotes.
        texts: Whether texts in quotes stay; otherwise `""` is in the place of each.
        characters: Whether `'x'` is a character, as in Java.
    """
    return "".join(_parts(code, texts, characters))


def _parts(code: str, texts: bool, characters: bool) -> Iterator[str]:  # noqa: FBT001  of this file
    done = 0
    while (sign := _START.search(code, done)) is not None:
        at = sign.start()
        yield code[done:at]
        if sign[0] == "//":
            end = code.find("\n", at)
            done = len(code) if end < 0 else end
            yield " "
        elif sign[0] == "/*":
            end = code.find("*/", at + 2)
            done = len(code) if end < 0 else end + 2
            yield " "
        elif sign[0] == "'":
            character = _CHARACTER.match(code, at) if characters else None
            done = at + 1 if character is None else character.end()
            yield "'" if character is None else "' '"
        else:
            rest = _REST_OF_BLOCK if sign[0] == '"""' else _REST_OF_TEXT
            found = rest.match(code, sign.end())
            done = sign.end() if found is None else found.end()
            yield code[at:done] if texts else '""'
    yield code[done:]
