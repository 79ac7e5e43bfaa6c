"""What is told of an error: its kind, its words, and the script's own lines."""

import dis
import linecache
from collections.abc import Callable, Mapping, Sequence
from types import FrameType, TracebackType
from typing import cast

from lineshaft.engines._cpython._inside._tool_error import ToolError

_SHOWN = 10
"""Frames shown at each end of a long traceback."""

_RAISE = dis.opmap["RAISE_VARARGS"]
_Place = tuple[str, int, str]
_Owns = Callable[[FrameType], bool]


def told(error: BaseException, owns: _Owns, *, memory_mb: int) -> Mapping[str, object]:
    """Return a `result` message for an error that ended a script.

    Args:
        error: The error.
        owns: Tells the script's own frames.
        memory_mb: What the script was given.
    """
    places = _places(error.__traceback__, owns)
    line = places[-1][1] if places else None
    if isinstance(error, MemoryError) and not _raised_by_script(error.__traceback__, owns):
        message = f"the script used more than {memory_mb} MB of memory"
        return {"how": "exceeded", "limit": "memory_mb", "message": message, "line": line}
    kind = type(error).__name__
    message = _message(error)
    report = raised(kind, message, places)
    if isinstance(error, ToolError):
        report |= {"code": error.code or None, "tool": error.tool or None}
    return report


def raised(kind: str, message: str, places: Sequence[_Place]) -> dict[str, object]:
    """Return a `result` message for an error at some place of the script."""
    last = f"{kind}: {message}" if message else kind
    shown = [_shown(place) for place in places]
    if len(shown) > 2 * _SHOWN:
        shown[_SHOWN:-_SHOWN] = [f"  ... {len(shown) - 2 * _SHOWN} more ..."]
    head = ["Traceback (most recent call last):"] if shown else []
    return {
        "how": "raised",
        "kind": kind,
        "message": message,
        "line": places[-1][1] if places else None,
        "traceback": "\n".join([*head, *shown, last]),
    }


def misspelt(error: SyntaxError, name: str) -> dict[str, object]:
    """Return a `result` message for text that is not Python."""
    line = error.lineno if error.filename == name and error.lineno else None
    message = error.msg or "invalid syntax"
    return raised("SyntaxError", message, [(name, line, "<module>")] if line else [])


def _places(place: TracebackType | None, owns: _Owns) -> list[_Place]:
    """Return file, line and function of the frames that are the script's."""
    found: list[_Place] = []
    while place is not None:
        code = place.tb_frame.f_code
        if owns(place.tb_frame):
            found.append((code.co_filename, place.tb_lineno, code.co_name))
        place = place.tb_next
    return found


def _shown(place: _Place) -> str:
    name, line, function = place
    text = linecache.getline(name, line).strip()
    head = f'  File "{name}", line {line}, in {function}'
    return f"{head}\n    {text}" if text else head


def _raised_by_script(place: TracebackType | None, owns: _Owns) -> bool:
    """Return whether a `raise` of the script's own text is where an error comes from."""
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or not owns(place.tb_frame):
        return False
    return place.tb_frame.f_code.co_code[place.tb_lasti] == _RAISE


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as failed:  # noqa: BLE001  the script's own `__str__`
        return f"<{type(failed).__name__} in its __str__>"
    inner = _inner(error)
    return f"{text}: {'; '.join(map(_summary, inner))}" if inner else text


def _inner(error: BaseException) -> Sequence[BaseException]:
    """Return the errors in a group."""
    if not isinstance(error, BaseExceptionGroup):
        return ()
    return cast("BaseExceptionGroup[BaseException]", error).exceptions


def _summary(error: BaseException) -> str:
    message = _message(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__
