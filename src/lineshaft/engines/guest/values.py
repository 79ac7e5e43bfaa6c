"""Values that cross between a script and its host: JSON-like ones."""

import enum
import math
import re
import sys
from collections.abc import Callable, Iterable
from typing import cast

from .codec import dumps

DEPTH = 200
"""Lists and dicts in each other at most."""

_DIGITS = 4_300
"""Digits of an integer at most: more of them the host does not read."""

_TOO_LONG: int = 10**_DIGITS
_digits_allowed = sys.get_int_max_str_digits
_ATOMS = frozenset({type(None), bool, int, float, str})
_TEXT = frozenset({str})
_SURROGATE = re.compile("[\ud800-\udfff]")
_HALF = "text with half a character (a lone surrogate)"
_KINDS = {"type": "class", "PosixPath": "Path"}


class NotPlain(Exception):
    """A value that is not JSON-like.

    Args:
        kind: Its kind, with an article.
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind = kind
        self.path = ""
        """Its place in the value, as Python writes it."""

    def inside(self, step: str) -> "NotPlain":
        """Return the same, found one level further out."""
        self.path = step + self.path
        return self

    def sentence(self, name: str) -> str:
        """Return the problem of the value called `name`."""
        return f"{name}{self.path} is not JSON: it is {self.kind}"


class _TooDeep(NotPlain):
    """Lists and dicts in each other, too many; where they are would be too long to tell."""

    def inside(self, step: str) -> "NotPlain":
        del step
        return self


def encoded(value: object) -> str:
    """Return a value as JSON: None, bool, int, finite float, str, or lists and dicts of such.

    Args:
        value: The value.

    Raises:
        NotPlain: It is of another type, nested too deeply, an integer too long to be written, or
            text with half a character.
    """
    _check(value, DEPTH)
    try:
        text = dumps(value, exact=True)
    except UnicodeEncodeError:
        _check_texts(value)
        raise NotPlain(_HALF) from None
    except ValueError:
        _check_numbers(value)
        raise NotPlain("an int of too many digits") from None
    except RecursionError:
        raise _TooDeep("nested too deeply") from None
    if len(text) > _DIGITS and _digits_allowed() != _DIGITS:  # the script has lifted the bound
        _check_numbers(value)
    return text


def _check(value: object, left: int) -> None:
    kind = type(value)
    if kind in _ATOMS or isinstance(value, int | float | str):
        return
    if left <= 0:
        raise _TooDeep(f"nested more than {DEPTH} deep")
    if isinstance(value, dict):
        mapping = cast("dict[object, object]", value)
        if not _TEXT.issuperset(map(type, mapping)):
            _check_keys(mapping)
        if not _ATOMS.issuperset(map(type, mapping.values())):
            _check_items(mapping.items(), left - 1)
    elif isinstance(value, list | tuple):
        items = cast("Iterable[object]", value)
        if not _ATOMS.issuperset(map(type, items)):
            _check_items(enumerate(items), left - 1)
    else:
        raise NotPlain(_kind(value))


def _check_items(items: Iterable[tuple[object, object]], left: int) -> None:
    for step, item in items:
        if type(item) not in _ATOMS:
            try:
                _check(item, left)
            except NotPlain as error:
                raise error.inside(f"[{step!r}]") from None


def _check_keys(keys: Iterable[object]) -> None:
    for key in keys:
        if not isinstance(key, str):
            raise NotPlain(f"a dict with the key {key!r}, which is not a str")


def _check_numbers(value: object) -> None:
    """Find the number that JSON has not."""
    if isinstance(value, float) and not math.isfinite(value):
        raise NotPlain(f"the float {float(value)}")
    if isinstance(value, int) and not -_TOO_LONG < value < _TOO_LONG:
        raise NotPlain("an int of too many digits")
    _check_parts(value, _check_numbers)


def _check_texts(value: object) -> None:
    """Find the text that UTF-8 has not."""
    if isinstance(value, str) and _SURROGATE.search(value):
        raise NotPlain(_HALF)
    keys = cast("Iterable[object]", value if isinstance(value, dict) else ())
    for key in keys:
        if isinstance(key, str) and _SURROGATE.search(key):
            raise NotPlain(f"a dict with the key {key!r}, {_HALF}")
    _check_parts(cast("object", value), _check_texts)


def _check_parts(value: object, check: Callable[[object], None]) -> None:
    steps: Iterable[tuple[object, object]] = ()
    if isinstance(value, dict):
        steps = cast("dict[object, object]", value).items()
    elif isinstance(value, list | tuple):
        steps = enumerate(cast("Iterable[object]", value))
    for step, item in steps:
        try:
            check(item)
        except NotPlain as error:
            raise error.inside(f"[{step!r}]") from None


def _kind(value: object) -> str:
    kind = type(value)
    if hasattr(kind, "__dataclass_fields__"):
        return f"an instance of the dataclass {kind.__name__}"
    if isinstance(value, enum.Enum):
        return f"a member of the enumeration {kind.__name__}"
    if kind.__module__ == "__main__":
        return f"an instance of the class {kind.__name__}"
    name = _KINDS.get(kind.__name__, kind.__name__)
    return f"{'an' if name[:1] in 'aeiouAEIOU' else 'a'} {name}"
