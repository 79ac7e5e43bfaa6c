"""JSON as it crosses the wire, by the interpreter's own parts: a script may replace `json`."""

import json
import json.encoder
from collections.abc import Callable, Iterable
from typing import cast

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false


def _refuse(value: object) -> object:
    raise TypeError(f"a value of the type {type(value).__name__} is not JSON")


_make = cast(
    "Callable[..., Callable[[object, int], Iterable[str]]]",
    json.encoder.c_make_encoder,  # pyright: ignore[reportUnknownArgumentType]  the interpreter's own
)
_encode = _make(None, _refuse, json.encoder.encode_basestring, None, ":", ",", False, False, False)  # noqa: FBT003  it takes no names
_scan = cast("Callable[[str, int], tuple[object, int]]", json.JSONDecoder().scan_once)
_join = "".join


def dumps(value: object, *, exact: bool = False) -> str:
    """Return a value as JSON that can be written as UTF-8: half a character becomes `?`.

    Args:
        value: The value.
        exact: Half a character is an error instead.

    Raises:
        TypeError: It is not JSON.
        UnicodeEncodeError: It holds half a character.
        ValueError: It holds a number that JSON has not.
        RecursionError: It is nested too deeply.
    """
    text = _join(_encode(value, 0))
    return (
        text if text.isascii() else text.encode("utf-8", "strict" if exact else "replace").decode()
    )


def loads(text: str) -> object:
    """Return the value of JSON text without white space around it."""
    value, _ = _scan(text, 0)
    return value
