"""Source code without its comments, in one pass: each character is looked at once."""

import re
from collections.abc import Iterator

_START = re.compile(r'//|/\*|"""|"|\'')
_START_OF_TYPESPEC = re.compile(r'//|/\*|"""|"|`|\{|\}')
_CHARACTER = re.compile(r"'(?:\\[^\n][^'\n]{0,8}|[^'\\\n])'")
_REST_OF_TEXT = re.compile(r'(?:\\.|[^"\\\n])*+"?', re.DOTALL)
_REST_OF_BLOCK = re.compile(r'(?:\\.|[^"\\]|"(?!""))*+(?:""")?', re.DOTALL)
_REST_OF_TEMPLATE = re.compile(r'(?:\\.|\$(?!\{)|[^"\\\n$])*+(?:"|(\$\{))?', re.DOTALL)
_REST_OF_TEMPLATE_BLOCK = re.compile(
    r'(?:\\.|\$(?!\{)|[^"\\$]|"(?!""))*+(?:"""|(\$\{))?', re.DOTALL
)
_NO_NAME = re.compile(r"[^\w.`]")
_REST_OF_NAME = re.compile(r"(?:\\.|[^`\\\n])*+`?", re.DOTALL)


def without_comments(code: str, *, texts: bool, java: bool = False) -> str:
    """Return code with a blank in the place of each comment.

    A comment without an end goes to the end, and so does a block of text.

    Args:
        code: Of Java or of TypeSpec: with `//`, `/* */`, `"..."` and blocks of text between three
            quotes.
        texts: Whether texts in quotes stay; otherwise `""` is in the place of each.
        java: Whether it is Java, where `'x'` is a character. In TypeSpec a name may stand in
            backticks, and code in a text, in `${...}`.
    """
    return "".join((_java if java else _typespec)(code, texts))


def _java(code: str, texts: bool) -> Iterator[str]:  # noqa: FBT001  of this file
    done = 0
    while (sign := _START.search(code, done)) is not None:
        at = sign.start()
        yield code[done:at]
        if sign[0].startswith("/"):
            done = _end_of_comment(code, sign)
            yield " "
        elif sign[0] == "'":
            character = _CHARACTER.match(code, at)
            done = at + 1 if character is None else character.end()
            yield "'" if character is None else "' '"
        else:
            done = _end(_REST_OF_BLOCK if sign[0] == '"""' else _REST_OF_TEXT, code, sign.end())
            yield code[at:done] if texts else '""'
    yield code[done:]


def _typespec(code: str, texts: bool) -> Iterator[str]:  # noqa: FBT001  of this file
    around: list[tuple[str, int]] = []
    """Texts that code stands in, the innermost last: how they begin, and brackets open in it."""

    done = 0
    while (sign := _START_OF_TYPESPEC.search(code, done)) is not None:
        at, quotes = sign.start(), sign[0]
        yield code[done:at]
        done = sign.end()
        if quotes.startswith("/"):
            done = _end_of_comment(code, sign)
            yield " "
            continue
        if quotes == "`":
            done = _end(_REST_OF_NAME, code, done)
            yield code[at:done] if texts else _NO_NAME.sub("_", code[at:done])
            continue
        if quotes in "{}":
            quotes, opened = around.pop() if around else ("", 0)
            opened += 1 if sign[0] == "{" else -1
            if quotes and opened:
                around.append((quotes, opened))
            if not quotes or opened:
                yield sign[0]
                continue
        rest = _REST_OF_TEMPLATE_BLOCK if quotes == '"""' else _REST_OF_TEMPLATE
        found = rest.match(code, done)
        done = done if found is None else found.end()
        if found is not None and found[1]:
            around.append((quotes, 1))
        yield code[at:done] if texts else '""'
    yield code[done:]


def _end_of_comment(code: str, sign: re.Match[str]) -> int:
    """Return where a comment ends: before the end of its line, or behind its own."""
    if sign[0] == "//":
        end = code.find("\n", sign.start())
        return len(code) if end < 0 else end
    end = code.find("*/", sign.end())
    return len(code) if end < 0 else end + 2


def _end(rest: re.Pattern[str], code: str, at: int) -> int:
    found = rest.match(code, at)
    return at if found is None else found.end()
