"""Tasks that wait: for what, and which of them are cancelled at the end of their loop."""

import asyncio
import linecache
import sys
from asyncio import base_events, tasks
from collections.abc import Collection, Generator
from contextlib import suppress
from types import FrameType
from typing import Any, cast

from .current import current
from .frames import owns

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# ruff: noqa: SLF001  a loop is made of what asyncio keeps private

_TOLD = 5
"""Tasks that are told of, each in a line."""

_CLOSING = "async_generator_athrow"
"""Type of an `aclose()`, which `asyncio` itself makes a task for a generator that is left early."""

_Future = asyncio.Future


def tell_unfinished(loop: base_events.BaseEventLoop) -> None:
    """Say on standard error which tasks are cancelled now and would have gone on.

    A task that waits for what only the script could give it, such as an item in a queue, would not.
    """
    left = tasks.all_tasks(loop)
    if not left:
        return
    coming = _coming(loop)
    lost = [task for task in left if not task.cancelling() and _would_go_on(task, coming)]
    lost.sort(key=number)
    lines = [f"{_cancelled(task)}\n" for task in lost[:_TOLD]]
    if len(lost) > _TOLD:
        lines.append(f"and {len(lost) - _TOLD} more\n")
    with suppress(ValueError, OSError):  # the script closed it
        current.run.output.write_bytes(2, "".join(lines).encode("utf-8", "replace"))


def _cancelled(task: "asyncio.Task[Any]") -> str:
    name = getattr(task.get_coro(), "__name__", task.get_name())
    where = "".join(f" ({line})" for line in waiting_lines(task))
    return f"a task was cancelled before it was done: {name}(){where}; await it"


def _coming(loop: base_events.BaseEventLoop) -> Collection[int]:
    """Return the identities of the futures that a call or a time will complete."""
    timers = cast("list[asyncio.TimerHandle]", loop._scheduled)
    timed = [value for timer in timers if not timer.cancelled() for value in timer._args or ()]
    return {id(future) for future in (*timed, *current.run.calls.awaited)}


def _would_go_on(task: "asyncio.Task[Any]", coming: Collection[int]) -> bool:
    if type(task.get_coro()).__name__ == _CLOSING:
        return False
    future = awaited(task)
    return future is None or type(future) is not _Future or id(future) in coming


def number(task: "asyncio.Task[Any]") -> tuple[int, str]:
    """Return the order of a task among those of its loop."""
    name = task.get_name()
    _, _, number = name.rpartition("-")
    return (int(number) if number.isdecimal() else sys.maxsize), name


def waiting_lines(task: "asyncio.Task[Any]") -> Generator[str, None, None]:
    """Yield the script's line in which a task waits."""
    found = None
    coroutine: Any = task.get_coro()
    while coroutine is not None:
        frame = cast(
            "FrameType | None",
            getattr(coroutine, "cr_frame", None)
            or getattr(coroutine, "ag_frame", None)
            or getattr(coroutine, "gi_frame", None),
        )
        if frame is not None and owns(frame):
            found = frame
        coroutine = (
            getattr(coroutine, "cr_await", None)
            or getattr(coroutine, "ag_await", None)
            or getattr(coroutine, "gi_yieldfrom", None)
        )
    if found is not None:
        text = linecache.getline(found.f_code.co_filename, found.f_lineno).strip()
        yield f"line {found.f_lineno}: {text}"


def awaited(task: "asyncio.Task[Any]") -> "asyncio.Future[Any] | None":
    """Return the future at the end of the chain that a task waits for."""
    future = getattr(task, "_fut_waiter", None)
    while isinstance(future, tasks.Task):
        future = getattr(future, "_fut_waiter", None)
    return future if future is not None and not future.done() else None
