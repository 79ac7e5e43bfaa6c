"""Report of an error: its type, its message, and the script's own lines."""

import dis
import inspect
import linecache
import traceback
from collections.abc import Callable, Generator, Iterator, Sequence
from types import FrameType, TracebackType
from typing import Any, cast

from .changes import Changes
from .frames import WORKSPACE, owns
from .private import is_own
from .tool_error import ToolError

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false

_SHOWN = 10
"""Frames shown at each end of a long traceback."""

_EARLIER = 3
"""Errors that led to one, shown above it."""

_SHORT = 1_000
"""Characters of an earlier error's message; of a longer one only the type is told, since the host
knows what it must not cut, and the guest does not."""

_CAUSE = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"

_RAISE = dis.opmap["RAISE_VARARGS"]
_PARSER = "Parser stack"
"""Start of the parser's message where it takes nesting for a lack of memory."""

_LONG = 200_000
"""Characters of a message; the host takes fewer, and looks at the rest for what it must not cut."""

_Place = tuple[str, int, str]


def told(error: BaseException, *, memory_mb: int) -> dict[str, object]:
    """Return the answer for an error that ended a script.

    Args:
        error: The error.
        memory_mb: The script's memory, in MB.
    """
    groups, first = _path(error)
    places, line = _places_of(*groups, first)
    is_alone = isinstance(first, Exception) and all(len(_inner(group)) == 1 for group in groups)
    cause = first if is_alone else error
    if _lacks_memory(cause):
        message = f"the script used more than {memory_mb} MB of memory"
        return {"how": "exceeded", "limit": "memory_mb", "message": message, "line": line}
    last = "" if cause is error else _summary(error)
    report = raised(type(cause).__name__, _message(cause), places, line, last=last)
    report["traceback"] = f"{_earlier(cause)}{report['traceback']}"
    if isinstance(cause, ToolError):
        report |= {"code": _text(cause.code) or None, "tool": _text(cause.tool) or None}
    return report


def raised(
    kind: str, message: str, places: Sequence[_Place], line: int | None, *, last: str = ""
) -> dict[str, object]:
    """Return the answer for an error at some place of the script.

    Args:
        kind: Its type.
        message: Its own.
        places: The frames.
        line: The innermost line of the script.
        last: The last line of the traceback; empty: kind and message.
    """
    last = last or (f"{kind}: {message}" if message else kind)
    shown = [_shown(place) for place in places]
    if len(shown) > 2 * _SHOWN:
        shown[_SHOWN:-_SHOWN] = [f"  ... {len(shown) - 2 * _SHOWN} more ..."]
    head = ["Traceback (most recent call last):"] if shown else []
    return {
        "how": "raised",
        "kind": kind,
        "message": message,
        "line": line,
        "traceback": "\n".join([*head, *shown, last]),
        "code": None,
        "tool": None,
    }


def misspelt(error: SyntaxError, name: str) -> dict[str, object]:
    """Return the answer for text that is not Python."""
    line = error.lineno if error.filename == name and error.lineno else None
    message = error.msg or "invalid syntax"
    return raised("SyntaxError", message, [(name, line, "<module>")] if line else [], line)


def _path(error: BaseException) -> tuple[list[BaseException], BaseException]:
    """Return the groups around the first error that is none, and that error."""
    groups: list[BaseException] = []
    while inner := _inner(error):
        groups.append(error)
        error = inner[0]
    return groups, error


def _places_of(*errors: BaseException) -> tuple[list[_Place], int | None]:
    """Return the frames of errors that lie in each other, and the last known line."""
    found: list[_Place] = []
    line = None
    for error in errors:
        places, own = _places(error.__traceback__)
        found += places
        line = own or line
    return found, line


def _places(place: TracebackType | None) -> tuple[list[_Place], int | None]:
    """Return file, line and function of the user's frames, and the innermost line of the script."""
    found: list[_Place] = []
    line = None
    while place is not None:
        code = place.tb_frame.f_code
        if owns(place.tb_frame):
            line = place.tb_lineno
            found.append((code.co_filename, line, code.co_name))
        elif code.co_filename.startswith(WORKSPACE):
            found.append((code.co_filename, place.tb_lineno or 0, code.co_name))
        place = place.tb_next
    return found, line


def _earlier(error: BaseException) -> str:
    """Return what led to an error, in Python's order and words, with the lines of the script."""
    told: list[str] = []
    seen = {id(error)}
    while len(told) < _EARLIER:
        cause = error.__cause__
        before = error.__context__ if cause is None and not error.__suppress_context__ else cause
        if not isinstance(before, Exception) or id(before) in seen:
            break
        _, line = _places(before.__traceback__)
        if line is None and not isinstance(before, ToolError):
            break  # of a library alone, or of the guest
        seen.add(id(before))
        text = _summary(before)
        text = text if len(text) <= _SHORT else type(before).__name__
        where = f" (line {line})" if line is not None else ""
        told.append(f"{text}{where}\n\n{_DURING if cause is None else _CAUSE}\n\n")
        error = before
    return "".join(reversed(told))


def _shown(place: _Place) -> str:
    name, line, function = place
    text = linecache.getline(name, line).strip()
    head = f'  File "{name}", line {line}, in {function}'
    return f"{head}\n    {text}" if text else head


def _lacks_memory(error: BaseException) -> bool:
    if not isinstance(error, MemoryError) or _raised_by_script(error.__traceback__):
        return False
    return not str(error).startswith(_PARSER)


def _raised_by_script(place: TracebackType | None) -> bool:
    """Return whether a `raise` of the script's own text is where an error comes from."""
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None or not owns(place.tb_frame):
        return False
    return place.tb_frame.f_code.co_code[place.tb_lasti] == _RAISE


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException as failed:  # noqa: BLE001  the script's own `__str__`
        return f"<{type(failed).__name__} in its __str__>"
    if _inner(error):
        leaves = _leaves(error)
        lines = dict.fromkeys(_summary(leaf) + _where(leaf, among=leaves) for leaf in leaves)
        more = [f"{len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
        text = f"{text}: {'; '.join([*list(lines)[:_SHOWN], *more])}"
    return text[:_LONG]


def _leaves(error: BaseException) -> list[BaseException]:
    """Return the errors in a group and in the groups in it."""
    found: list[BaseException] = []
    left = [error]
    while left:
        each = left.pop()
        inner = _inner(each)
        left += reversed(inner)
        if not inner:
            found.append(each)
    return found


def _inner(error: BaseException) -> Sequence[BaseException]:
    """Return the errors in a group."""
    if not isinstance(error, BaseExceptionGroup):
        return ()
    return cast("BaseExceptionGroup[BaseException]", error).exceptions


def _where(error: BaseException, *, among: Sequence[BaseException]) -> str:
    """Return the line of an error that is not the only one."""
    _, line = _places(error.__traceback__)
    return f" (line {line})" if line is not None and len(among) > 1 else ""


def _summary(error: BaseException) -> str:
    message = _message(error)
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


def hide_guest(changes: Changes) -> None:
    """Hide the guest's frames from `traceback`, `logging` and `inspect`."""
    name = "_walk_tb_with_full_positions"
    walk_positions: Callable[..., Any] = vars(traceback)[name]
    walk_tb, walk_stack = traceback.walk_tb, traceback.walk_stack
    outer, inner = inspect.getouterframes, inspect.getinnerframes

    def walked_positions(tb: TracebackType | None) -> Generator[Any, None, None]:
        return _of_others(walk_positions(tb))

    def walked_tb(tb: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
        return _of_others(walk_tb(tb))

    def walked_stack(f: FrameType | None) -> Iterator[tuple[FrameType, int]]:
        if f is None:
            f = cast("FrameType", inspect.currentframe()).f_back
        return iter(_inside(list(walk_stack(f)), _frame_of))

    def outer_frames(frame: Any, context: int = 1) -> Any:
        return _inside(outer(frame, context), _frame_of_info)

    def inner_frames(tb: TracebackType, context: int = 1) -> list[inspect.FrameInfo]:
        return [info for info in inner(tb, context) if not is_own(info.frame.f_code)]

    changes.attribute(traceback, name, walked_positions)
    changes.attribute(traceback, "walk_tb", walked_tb)
    changes.attribute(traceback, "walk_stack", walked_stack)
    changes.attribute(inspect, "getouterframes", outer_frames)
    changes.attribute(inspect, "getinnerframes", inner_frames)


def _of_others(walk: Any) -> Generator[Any, None, None]:
    for item in walk:
        if not is_own(item[0].f_code):
            yield item


def _frame_of(item: Any) -> FrameType:
    return item[0]


def _frame_of_info(item: Any) -> FrameType:
    return item.frame


def _inside(walked: list[Any], frame: Callable[[Any], FrameType]) -> Any:
    """Return the frames of a stack, innermost first, up to the script's own outermost one."""
    ends = [place for place, item in enumerate(walked) if owns(frame(item))]
    inside = walked[: ends[-1] + 1] if ends else walked
    return [item for item in inside if not is_own(frame(item).f_code)]
