"""Work of a session while a person watches: its calls are drawn as they come."""

import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import anyio
from msgspec.structs import replace

from lineshaft.cli._display import Display, Plain, Silent
from lineshaft.cli._terminal import can_draw
from lineshaft.session import Session
from lineshaft.values import CallResult, RunError, RunResult

T = TypeVar("T")
D = TypeVar("D", RunResult, CallResult)


def display_for(*, quiet: bool) -> Display:
    """Return the display that suits standard error: none, a live tree or plain lines."""
    if quiet:
        return Silent()
    if not can_draw(sys.stderr):
        return Plain()
    from lineshaft.cli._live import LiveDisplay  # noqa: PLC0415  rich takes a tenth of a second

    return LiveDisplay()


def without_secrets(session: Session, done: D) -> D:
    """Return a result whose error holds no secrets: a tool may tell what its environment has.

    Args:
        session: Knows them.
        done: The result of a run or a call.
    """
    error = done.error
    if error is None:
        return done
    clean = session.without_secrets
    kept = replace(error, message=clean(error.message), hint=clean(error.hint))
    if isinstance(kept, RunError):
        kept = replace(kept, traceback=clean(kept.traceback))
    return replace(done, error=kept)


async def shown(display: Display, work: Callable[[], Awaitable[T]]) -> T:
    """Do something whose events the display takes, and close the display at its end."""
    done: list[T] = []
    try:
        async with anyio.create_task_group() as group:
            group.start_soon(refresh, display)
            done.append(await work())
            group.cancel_scope.cancel()
    finally:
        display.close()
    return done[0]


async def refresh(display: Display) -> None:
    """Draw the display anew, some ten times a second, until cancelled."""
    while True:
        display.refresh()
        await anyio.sleep(0.1)
