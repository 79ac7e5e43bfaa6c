"""Line numbers of the tables of a list in a TOML text, which the parser does not give."""

import re
from collections.abc import Iterator

from lineshaft.values import Struct, lazy_pattern

_TOKEN = lazy_pattern(
    r"""
    (?P<skip>[ \t\r]+|\#[^\n]*)
    |(?P<text>\"{3}(?:[^\\]|\\.)*?\"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
    |(?P<word>[A-Za-z0-9_-]+)
    |(?P<mark>.)
    """,
    re.VERBOSE | re.DOTALL,
)


class _Token(Struct, frozen=True):
    text: str
    line: int
    is_key: bool
    """A word or a string, quotes taken off."""


def table_lines(text: str, *keys: str) -> list[int]:
    """Return the line on which each table of a list of tables begins, in order.

    Both ways to write one are understood: `[[a.b]]`, and `b = [{...}, ...]` under `[a]`. Other
    spellings are not found: compare the count with that of the parser.

    Args:
        text: TOML that parses.
        keys: The place of the list, from the top.
    """
    tokens = list(_tokens(text))
    found: list[int] = []
    table: tuple[str, ...] = ()
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token.text == "\n" and not token.is_key:
            at += 1
        elif token.text == "[" and not token.is_key:
            table, end = _key(tokens, at)
            is_list = _is(tokens, at + 1, "[")
            found += [token.line] if is_list and table == keys else []
            at = end
        else:
            name, at = _key(tokens, at)
            lines, at = _value(tokens, at)
            found += lines if (*table, *name) == keys else []
    return found


def _tokens(text: str) -> Iterator[_Token]:
    line = 1
    for match in _TOKEN().finditer(text):
        kind, found = match.lastgroup, match[0]
        if kind == "text":
            yield _Token(found[1:-1], line, is_key=True)
        elif kind != "skip":
            yield _Token(found, line, is_key=kind == "word")
        line += found.count("\n")


def _is(tokens: list[_Token], at: int, mark: str) -> bool:
    return at < len(tokens) and tokens[at].text == mark and not tokens[at].is_key


def _key(tokens: list[_Token], at: int) -> tuple[tuple[str, ...], int]:
    """Return a key and where it ends: at its `=`, or behind the last bracket of a header."""
    parts: list[str] = []
    while at < len(tokens) and not _is(tokens, at, "=") and not _is(tokens, at, "\n"):
        parts += [tokens[at].text] if tokens[at].is_key else []
        at += 1
    return tuple(parts), at


def _value(tokens: list[_Token], at: int) -> tuple[list[int], int]:
    """Return the lines of the tables in a value that is a list of them, and where it ends."""
    depth = 0
    found: list[int] = []
    is_list = _is(tokens, at + 1, "[")
    while at < len(tokens) and (depth or not _is(tokens, at, "\n")):
        token = tokens[at]
        if not token.is_key and token.text in "[{":
            found += [token.line] if depth == 1 and token.text == "{" else []
            depth += 1
        elif not token.is_key and token.text in "]}":
            depth -= 1
        at += 1
    return (found if is_list else []), at
