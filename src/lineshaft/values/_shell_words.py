"""The words of a command line.

`shlex.split` copies a word for each of its characters: one call with a word of some megabytes would
hold up the host for an hour.
"""

import re

from lineshaft.values._lazy_pattern import lazy_pattern

_PIECE = lazy_pattern(
    r"""(?P<blanks>[ \t\r\n]++)
    | (?P<plain>[^ \t\r\n'"\\]++)
    | '(?P<single>[^']*+)'
    | "(?P<double>[^"\\]*+(?:\\.[^"\\]*+)*+)"
    | \\(?P<escaped>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPED = lazy_pattern(r'\\(["\\])')


def shell_words(line: str) -> list[str]:
    """Split a command line as `shlex.split` does, in time that is in proportion to it.

    Raises:
        ValueError: A quote is not closed, or nothing follows a last backslash.
    """
    words: list[str] = []
    pieces: list[str] | None = None
    at = 0
    while at < len(line):
        found = _PIECE().match(line, at)
        if found is None:
            raise ValueError("No escaped character" if line[at] == "\\" else "No closing quotation")
        at = found.end()
        if found.lastgroup == "blanks":
            if pieces is not None:
                words.append("".join(pieces))
            pieces = None
            continue
        piece = found[found.lastgroup or 0]
        if found.lastgroup == "double":
            piece = _ESCAPED().sub(r"\1", piece)
        if pieces is None:
            pieces = []
        pieces.append(piece)
    return words if pieces is None else [*words, "".join(pieces)]
