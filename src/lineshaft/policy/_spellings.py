"""Other spellings of a name, which the file systems of macOS and Windows take for it.

A rule that forbids a name forbids these on every system: a workspace is copied, mounted and shared.
The rules are those of git, which guards `.git` by them: HFS+ leaves out characters that cannot be
seen (`next_hfs_char` in its `utf8.c`); NTFS leaves out dots and spaces at the end of a name, takes
what follows a colon for a stream of the file, and knows names of 8 and 3 characters
(`is_ntfs_dot_git` in its `path.c`). APFS compares names by Unicode's full case folding, in which
one letter may be two or three (`ß` is `ss`): so does `str.casefold`.
"""

import re
import unicodedata

from lineshaft.values import lazy_pattern, marks_in_order

_UNSEEN = dict.fromkeys(
    [*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF]
)
_STREAM = lazy_pattern(r":[^/]*")
_ENDING = lazy_pattern(r"[. ]+(?=/)")
_SET = lazy_pattern(r"(\[(?:\\.|[^\]\\])*\])")
_WILD = lazy_pattern(r"[*?\[]")
_CHAR = r"[a-z0-9_^$~!#%&{}@'`()-]"
_SHORT = lazy_pattern(rf"{_CHAR}{{1,8}}(?:\.{_CHAR}{{1,3}})?", re.IGNORECASE)
_BASE, _HASHED, _ENDING_OF_SHORT = 6, 2, 3


def composed(text: str) -> str:
    """Return a text with accented letters as one character each, and none that HFS+ leaves out."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", marks_in_order(text.translate(_UNSEEN)))


def folded(text: str) -> str:
    """Return a text in which each letter whose case folding is several letters is those."""
    if text.isascii():
        return text
    return composed("".join(c if len(f := c.casefold()) == 1 else f for c in text))


def with_folded(expression: str) -> str:
    """Return an expression that matches with each such letter as it is and as several.

    Those in sets of characters stay as they are.
    """
    if expression.isascii():
        return expression
    parts = _SET().split(expression)
    other = "".join(each if n % 2 else folded(each) for n, each in enumerate(parts))
    return expression if other == expression else f"{expression}|{other}"


def is_plain(path: str) -> bool:
    """Return whether a path, a `/` after it, has one spelling only, letters' case aside."""
    return path.isascii() and not any(mark in path for mark in ("~", ":", "./", " /"))


def plainly(path: str) -> str:
    """Return a path as NTFS reads it: no streams, no dots and spaces at the end of a name.

    Args:
        path: With a `/` after it.
    """
    if ":" in path:
        path = _STREAM().sub("", path)
    return _ENDING().sub("", path) if "./" in path or " /" in path else path


def short_names(part: str) -> str | None:
    """Return an expression for the short names that NTFS may give to one part of a path pattern.

    Args:
        part: Of the pattern; where it has wildcards, what stands before the first one decides.

    Returns:
        None, where what it names has none of its own.
    """
    start = _WILD().split(part)[0]
    if start == part:
        if _SHORT().fullmatch(part):
            return None  # short enough to be its own
        name, dot, ending = start.lstrip(".").rpartition(".")
        base = re.sub(r"[. ]", "", name if dot else ending)
        more = ""
        after = rf"\.{re.escape(ending[:_ENDING_OF_SHORT])}" if dot else ""
    else:
        base = re.sub(r"[. ]", "", start)
        more = "" if len(base) >= _BASE else r"[^/~.]{0,5}"
        after = r"(?:\.[^/.]{0,3})?"
    if not base:
        return None
    hashed = rf"{re.escape(base[:_HASHED])}[0-9a-f]{{4}}"
    return rf"(?:{re.escape(base[:_BASE])}{more}|{hashed})~[0-9]{{1,6}}{after}"
