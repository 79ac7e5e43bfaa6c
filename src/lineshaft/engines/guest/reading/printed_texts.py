"""The text of an expression that an f-string prints with its value: `f"{x=}"`."""

import ast
import re
from collections.abc import Iterator

from .edits import Edits
from .scopes import Outline


def values_around(node: ast.AST, outline: Outline) -> Iterator[ast.FormattedValue]:
    """Yield the values in f-strings that an expression is part of."""
    while isinstance(node, ast.expr):
        if isinstance(node, ast.FormattedValue):
            yield node
        node = outline.above(node)


def keep_printed_text(node: ast.FormattedValue, outline: Outline, edits: Edits) -> None:
    """Let an f-string print the text of a value as written, whatever is edited in it.

    `f"{f()=}"` becomes `f"f()={(await f())!r}"`. It stays where its text cannot stand between the
    quotes: with a backslash, a line's end or the same quotes in it.

    Args:
        node: The value.
        outline: Of the script.
        edits: Of the script.
    """
    around, data = outline.above(node), edits.text.data
    if not isinstance(around, ast.JoinedStr):
        return
    (first, _), (start, end) = edits.text.span(around), edits.text.span(node)
    _, value_end = edits.text.span(node.value)
    sign, quote = _SIGN.match(data, value_end, end), _QUOTE.match(data, first, start)
    if sign is None or quote is None or data[start : start + 1] != b"{":
        return
    printed = data[start + 1 : sign.end()]
    if re.search(rb"[\\\n]|" + quote[1], printed) or quote[1] in data[quote.end() : start]:
        return
    text = printed.decode().replace("{", "{{").replace("}", "}}")
    edits.replace(start, start, text)
    is_plain = data[sign.end() : sign.end() + 1] == b"}"
    edits.replace(sign.start(1), sign.end(), "!r" if is_plain else "")


_SIGN = re.compile(rb"[\s)]*(=)\s*")
_QUOTE = re.compile(rb"\w*(\"\"\"|'''|\"|')")
