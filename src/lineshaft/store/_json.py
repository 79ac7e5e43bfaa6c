"""Conversion of values to JSON and back, exactly."""

import json
from collections.abc import Mapping
from typing import cast

from msgspec.structs import replace

from lineshaft.errors import StateError
from lineshaft.values import Done, Failure, KeptCall, KeptPause, Value, decode

Data = dict[str, object]

UNFIT = (ValueError, TypeError, OverflowError, RecursionError)
"""Exceptions for a value that cannot be written: too long an integer, a text with half a character,
a loop."""


def dumped(value: object) -> bytes:
    """Return a JSON-like value as bytes from which `loaded` makes the same value.

    Raises:
        StateError: It is no such value.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)
        return text.encode("utf-8", "surrogatepass")
    except (TypeError, ValueError, RecursionError) as error:
        raise StateError(
            f"the run cannot be kept: it holds a value that is not JSON ({type(error).__name__})"
        ) from None


def loaded(data: bytes) -> Data:
    """Return the value that was dumped."""
    return cast("Data", json.loads(data.decode("utf-8", "surrogatepass")))


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    raise TypeError


def shown(value: object) -> str:
    """Return a value of the record as text that every database takes."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_as_text)
    return storable(text)


def _as_text(value: object) -> object:
    return dict(cast("Mapping[str, object]", value)) if isinstance(value, Mapping) else str(value)


def storable(text: str) -> str:
    """Return a text in which lone surrogates are escapes, and NUL too."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\u0000")


def call_of(data: object) -> KeptCall:
    """Return a call from its data."""
    return decode(KeptCall, data)


def done_of(data: object) -> Done:
    """Return how a call ended from its data."""
    kind: type[Value | Failure] = Value if "value" in cast("Data", data) else Failure
    return decode(kind, data)


def pause_of(data: Mapping[str, object], blobs: Mapping[str, bytes]) -> KeptPause:
    """Return a pause from its data."""
    told = {name: value for name, value in data.items() if name != "blobs"}
    return replace(decode(KeptPause, told), blobs=blobs)
