"""Glob patterns as regular expressions that match in linear time.

Two kinds. Text: `*` is any text, used for names, commands and arguments. Paths: as in `.gitignore`,
`*` stays within one part and `**` is any number of parts. The part between two stars is matched at
its first place and never tried again (an atomic group): right for globs, and the cost of a hostile
text is bounded by its length.
"""

import re
from collections.abc import Iterable, Iterator

from lineshaft.errors import ConfigError
from lineshaft.policy._spellings import short_names
from lineshaft.values import Struct

_STAR = "*"
_ANY_PARTS = "(?:[^/]+/)*"
_FEWEST_PARTS = "(?:[^/]+/)*?"


class PathGlob(Struct, frozen=True):
    """The readings of one path pattern: expressions over a path with a `/` after it."""

    exact: str
    """The paths that the pattern names; `a/**` names `a` too."""

    below: str
    """Those, and everything in them."""

    above: str
    """The folders that hold them, as far as the pattern spells them out; may be empty."""

    names_a_file: bool
    """Whether the last part names its target (`*.pem`), and is not any name (`**`)."""


def text_glob(pattern: str) -> str:
    """Return the expression for a text glob; where it ends in ` *`, that may be missing.

    Raises:
        ConfigError: The pattern is malformed.
    """
    whole = _sequence(pattern, any_char=".")
    if pattern.endswith(" *"):
        return f"{whole}|{_sequence(pattern[:-2], any_char='.')}"
    return whole


def path_glob(pattern: str, *, short: bool = False) -> PathGlob:
    """Return the readings of a path pattern.

    Args:
        pattern: The pattern.
        short: Whether the short names that NTFS gives to its parts stand for them.

    Raises:
        ConfigError: The pattern is malformed, or can never match a workspace path.
    """
    parts = _parts(pattern)
    chunks = _split(parts, "**")
    texts = ["".join(f"{_part(part, short=short)}/" for part in chunk) for chunk in chunks]
    start = texts[0] + "".join(f"(?>{_FEWEST_PARTS}{text})" for text in texts[1:-1])
    exact = below = start
    if len(texts) == 1:
        below += ".*"
    elif texts[-1]:
        exact += _ANY_PARTS + texts[-1]
        below += f"(?>{_FEWEST_PARTS}{texts[-1]}).*"
    else:
        exact = below = start + ".*"
    deeper = len(chunks) > 2 or bool(chunks[-1] and len(chunks) > 1)
    return PathGlob(
        exact=exact,
        below=below,
        above=_above(chunks[0] if deeper else chunks[0][:-1], short=short) if chunks[0] else "",
        names_a_file=any(char.isalnum() for char in re.sub(r"\[[^\]]*\]", "", parts[-1])),
    )


def _parts(pattern: str) -> list[str]:
    """Split a path pattern, `**` put first where it may match in any folder."""
    if "\\" in pattern or "\0" in pattern:
        raise ConfigError(
            f"the pattern {pattern!r} has a backslash or NUL; write / between folders"
        )
    if pattern.startswith("!"):
        raise ConfigError(
            f"the pattern {pattern!r} starts with '!'; put a rule with the other verdict above"
        )
    text = pattern
    for prefix in ("@project/", "./"):
        text = "/" + text.removeprefix(prefix) if text.startswith(prefix) else text
    parts = text.strip("/").split("/")
    if text.endswith("/"):
        parts.append("**")
    if "/" not in text.rstrip("/"):
        parts.insert(0, "**")
    if any(part in ("", ".", "..", "~") for part in parts):
        raise ConfigError(
            f"the pattern {pattern!r} matches no path; write it from the workspace's root, such as"
            " 'secrets/**', or a name alone for any folder, such as '*.pem', or '**' for everything"
        )
    return [part for at, part in enumerate(parts) if parts[at - 1 : at + 1] != ["**", "**"]]


def _above(parts: Iterable[str], *, short: bool) -> str:
    nested = ""
    for part in reversed(list(parts)):
        nested = f"(?:{_part(part, short=short)}/{nested})?"
    return rf"\./|{nested}"


def _part(part: str, *, short: bool) -> str:
    name = _sequence(part, any_char="[^/]")
    other = short_names(part) if short else None
    return name if other is None else f"(?:{name}|{other})"


def _sequence(pattern: str, *, any_char: str) -> str:
    """Translate one glob: the parts before, between and after its stars."""
    first, *others = ("".join(chunk) for chunk in _split(_tokens(pattern, any_char), _STAR))
    if not others:
        return first
    middle = "".join(f"(?>{any_char}*?{chunk})" for chunk in others[:-1] if chunk)
    return f"{first}{middle}{any_char}*{others[-1]}"


def _tokens(pattern: str, any_char: str) -> Iterator[str]:
    """Yield each character's expression; a star as itself."""
    at = 0
    while at < len(pattern):
        char = pattern[at]
        if char == "[":
            end = pattern.find("]", at + 3 if pattern[at + 1 : at + 2] == "!" else at + 2)
            if end < 0:
                raise ConfigError(f"the pattern {pattern!r} has '[' without ']'; write [[] for '['")
            yield _set(pattern, pattern[at + 1 : end], any_char)
            at = end
        elif char in "*?":
            yield _STAR if char == "*" else any_char
        else:
            yield re.escape(char)
        at += 1


def _set(pattern: str, inside: str, any_char: str) -> str:
    """Translate the text between brackets; `!` first means: none of these."""
    negated = inside.startswith("!")
    chars = inside[negated:]
    members, at = "", 0
    while at < len(chars):
        width = 3 if chars[at + 1 : at + 2] == "-" and at + 2 < len(chars) else 1
        members += "-".join(re.escape(char) for char in chars[at : at + width : 2])
        at += width
    no_slash = "" if any_char == "." else "(?!/)"
    expression = f"{no_slash}[{'^' if negated else ''}{members}]"
    try:
        re.compile(expression)
    except re.error as error:
        raise ConfigError(
            f"the pattern {pattern!r} has a bad set [{inside}]: {error.msg}"
        ) from None
    return expression


def _split(items: Iterable[str], at: str) -> list[list[str]]:
    """Split a sequence at an item, as `str.split` does."""
    out: list[list[str]] = [[]]
    for item in items:
        if item == at:
            out.append([])
        else:
            out[-1].append(item)
    return out
