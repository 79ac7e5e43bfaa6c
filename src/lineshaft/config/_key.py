"""One setting: what it may be, in code and in words."""

import json
from collections.abc import Callable, Iterable
from typing import cast

from lineshaft.values import Struct

PREFIX = "LINESHAFT_"
"""Every variable of ours begins so."""


class Key(Struct, frozen=True, kw_only=True):
    """One setting."""

    name: str
    """Dotted, as in the file: `script.timeout_seconds`."""

    allowed: str
    """What it may be, in words that follow "allowed: "."""

    accepts: Callable[[object], bool]
    problem: Callable[[object], str] | None = None
    """Says what is wrong inside a value of the right kind, as a whole message."""

    default: object = None
    text: str = ""
    """What it does, in one line."""

    from_text: Callable[[str], object] | None = None
    """Turns the text of a variable or flag into a value; None: only files can set it."""

    @property
    def variable(self) -> str:
        """Return the name of its environment variable."""
        return PREFIX + self.name.upper().replace(".", "_")


def number(name: str, low: float, high: float, default: float, text: str) -> Key:
    """Return a setting that is a number within bounds."""
    whole = isinstance(default, int)
    kinds = (int,) if whole else (int, float)

    def accepts(value: object) -> bool:
        return isinstance(value, kinds) and not isinstance(value, bool) and low <= value <= high

    return Key(
        name=name,
        allowed=f"a {'whole number' if whole else 'number'} from {low:,} to {high:,}",
        accepts=accepts,
        default=default,
        text=text,
        from_text=json_or_text,
    )


def choice(name: str, words: Iterable[str], default: str, text: str) -> Key:
    """Return a setting that is one of some words."""
    known = tuple(words)
    return Key(
        name=name,
        allowed="one of " + ", ".join(repr(word) for word in known),
        accepts=lambda value: isinstance(value, str) and value in known,
        default=default,
        text=text,
        from_text=str,
    )


def json_or_text(text: str) -> object:
    """Read the text of a variable as JSON, or leave it a text."""
    try:
        return cast("object", json.loads(text))
    except (ValueError, RecursionError):
        return text


def is_text(value: object) -> bool:
    """Return whether a value is a text that says something."""
    return isinstance(value, str) and bool(value.strip()) and "\0" not in value


def is_texts(value: object) -> bool:
    """Return whether a value is a list of such texts."""
    return isinstance(value, list) and all(is_text(item) for item in cast("list[object]", value))
