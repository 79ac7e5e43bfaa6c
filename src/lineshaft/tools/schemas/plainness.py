"""Turning values into plain JSON-like ones: None, bool, int, float, str, list, dict."""

import dataclasses
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from typing import cast

_DEEPEST = 100
_MOST_VALUES = 2_000_000
_LONGEST_INT = 14_000  # bits; Python refuses to write down integers of some more
_MANY = 100
"""So many values of one kind are looked at together: one by one takes ten times as long."""

_BYTES = "use text, or base64.b64encode(...).decode()"
_SET = "make it a list: sorted(...)"

ValuePath = tuple[str | int, ...]


class NotPlain(Exception):
    """A value that JSON cannot hold.

    Args:
        what: The kind of value, such as `a set`.
        hint: What to use instead.
    """

    def __init__(self, what: str, hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint
        self.path: list[str | int] = []
        """Where it was found: keys and positions from the top."""


def plain(value: object) -> object:
    """Return a copy of a value, made of JSON's types only.

    Args:
        value: Also dataclasses, pydantic models, enums, tuples, dates, paths, numbers.

    Raises:
        NotPlain: It, or a part of it, has no such form.
    """
    kind = type(value)
    if kind is dict:
        return _Copy().mapping(cast("dict[object, object]", value), 0)
    scalar = _FAST.get(kind)
    return _Copy().of(value, 0) if scalar is None else scalar(value)


class _Copy:
    """One copying; counts what it copies, so that shared parts cannot grow without end."""

    def __init__(self) -> None:
        self.left = _MOST_VALUES

    def of(self, value: object, depth: int) -> object:
        kind = type(value)
        scalar = _FAST.get(kind)
        if scalar is not None:
            return scalar(value)
        if depth >= _DEEPEST:
            raise NotPlain(f"nested more than {_DEEPEST} levels deep, or contains itself")
        if kind is dict:
            return self.mapping(cast("dict[object, object]", value), depth)
        if kind is list:
            return self.sequence(cast("list[object]", value), depth)
        return self.other(value, depth)

    def mapping(self, value: Mapping[object, object], depth: int) -> dict[str, object]:
        self.spend(len(value))
        if len(value) > _MANY:
            copy = {**value}
            if _are_texts(copy) and _are_plain(copy.values()):
                return cast("dict[str, object]", copy)
        made: dict[str, object] = {}
        for given, item in value.items():
            key = given if type(given) is str and given.isascii() else _key(given)
            try:
                if type(item) is str and item.isascii():
                    made[key] = item
                else:
                    made[key] = self.of(item, depth + 1)
            except NotPlain as error:
                error.path.insert(0, key)
                raise
        return made

    def sequence(self, value: list[object] | tuple[object, ...], depth: int) -> list[object]:
        self.spend(len(value))
        if len(value) > _MANY:
            copy = list(value)
            if _are_plain(copy):
                return copy
        made: list[object] = []
        for item in value:
            try:
                made.append(self.of(item, depth + 1))
            except NotPlain as error:
                error.path.insert(0, len(made))
                raise
        return made

    def other(self, value: object, depth: int) -> object:
        if isinstance(value, Enum):
            return self.of(value.value, depth + 1)
        if isinstance(value, Mapping):
            return self.mapping(cast("Mapping[object, object]", value), depth)
        if isinstance(value, list | tuple):
            return self.sequence(cast("list[object]", value), depth)
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
            return self.mapping(cast("dict[object, object]", fields), depth)
        for base, convert in _SCALARS:
            if isinstance(value, base):
                return convert(cast("str", value))
        return self.of(_by_pydantic(value), depth + 1)

    def spend(self, values: int) -> None:
        self.left -= values
        if self.left < 0:
            raise NotPlain(f"more than {_MOST_VALUES:,} values")


def _are_plain(values: Collection[object]) -> bool:
    """Return whether all values are of one of JSON's own kinds, and may stay as they are."""
    kinds = set(map(type, values))
    if kinds == {int}:
        numbers = cast("Collection[int]", values)
        ends = max(numbers), min(numbers)
        return all(each.bit_length() <= _LONGEST_INT for each in ends)
    if kinds == {float}:
        return all(map(math.isfinite, cast("Collection[float]", values)))
    return kinds <= {bool, type(None)} or (kinds == {str} and _are_texts(values))


def _are_texts(values: Iterable[object]) -> bool:
    return set(map(type, values)) == {str} and all(map(str.isascii, cast("Iterable[str]", values)))


def _same(value: object) -> object:
    return value


def _text(value: str) -> str:
    if value.isascii():
        return str(value)
    try:
        value.encode()
    except UnicodeEncodeError:
        hint = "decode bytes with errors='replace'"
        raise NotPlain("text that is not valid Unicode", hint) from None
    return str(value)


def _integer(value: int) -> int:
    if value.bit_length() > _LONGEST_INT:
        raise NotPlain("an integer of too many digits", "write it as text: hex(...)")
    return int(value)


def _number(value: float) -> float:
    if not math.isfinite(value):
        raise NotPlain(f"{value}, which JSON does not have", "use None")
    return float(value)


_FAST: dict[type, Callable[..., object]] = {
    str: _text,
    int: _integer,
    float: _number,
    bool: _same,
    type(None): _same,
}

_SCALARS: tuple[tuple[type, Callable[..., object]], ...] = (
    (str, _text),
    (int, _integer),
    (float, _number),
)


def _key(key: object) -> str:
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return _text(key)
    raise NotPlain(f"a dict with the key {key!r:.60}, which is no text", "use str keys")


def _by_pydantic(value: object) -> object:
    """Return the JSON form that pydantic gives dates, paths, decimals, models and the like."""
    if type(value) in (bytes, bytearray, memoryview):
        raise NotPlain(f"{type(value).__name__}, which JSON does not have", _BYTES)
    if isinstance(value, set | frozenset):
        raise NotPlain("a set", _SET)
    if hasattr(value, "__next__") or hasattr(value, "__await__") or hasattr(value, "__anext__"):
        raise NotPlain(f"{_kind(value)}, which has no value yet", "make it a list, or await it")
    from pydantic_core import to_jsonable_python  # noqa: PLC0415  slow to import, rarely needed

    try:
        return to_jsonable_python(value, by_alias=True)
    except Exception as error:
        what = f"{_kind(value)}, which has no JSON form"
        hint = "use a dict, a dataclass or a pydantic model"
        if hasattr(value, "tolist"):  # of NumPy and what follows it
            hint = "make it plain: value.tolist()"
        elif isinstance(value, Iterable):  # a range, the keys of a dict
            hint = "make it a list: list(...)"
        raise NotPlain(what, hint) from error


def _kind(value: object) -> str:
    return f"an object of type {type(value).__qualname__}"
