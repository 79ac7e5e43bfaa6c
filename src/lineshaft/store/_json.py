"""Conversion of values to JSON and back, exactly."""

import json
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

from lineshaft.errors import StateError
from lineshaft.values import Done, Failure, KeptCall, KeptPause, Pending, Value

T = TypeVar("T")
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
    return _made(KeptCall, data)


def done_of(data: object) -> Done:
    """Return how a call ended from its data."""
    told = cast("Data", data)
    return Value(told["value"]) if "value" in told else _made(Failure, told)


def pause_of(data: Mapping[str, object], blobs: Mapping[str, bytes]) -> KeptPause:
    """Return a pause from its data."""
    return KeptPause(
        document=cast("Data", data["document"]),
        blobs=blobs,
        pending=tuple(_made(Pending, each) for each in cast("list[Data]", data["pending"])),
        expires_at=str(data["expires_at"]),
    )


def _made(kind: Callable[..., T], data: object) -> T:
    return kind(**cast("Data", data))
