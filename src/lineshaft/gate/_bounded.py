"""Run one piece of foreign code: for so long, and no longer.

asyncio itself, not anyio's task groups: a group waits for its tasks for ever, and a tool that
does not end when it is told to must be left behind, with nothing that still listens to it.
"""

import asyncio
from collections.abc import Awaitable, Callable

from lineshaft.tasks import wait_until_done
from lineshaft.values import Struct

GRACE_SECONDS = 2.0
"""A cancelled tool gets this long to end."""

_LOOK_SECONDS = 0.05
"""How soon it is looked again whether a clock that stood still goes on."""

_ValueOrError = tuple[object, BaseException | None]

_left_behind: set[asyncio.Task[_ValueOrError]] = set()


class Ending(Struct):
    """How it ended."""

    value: object = None
    error: BaseException | None = None
    told_to_end: bool = False
    left_behind: bool = False
    """It was told to end and did not."""


async def bounded(
    body: Callable[[], Awaitable[object]],
    *,
    seconds: float | None,
    ending: Ending,
    left: Callable[[], float] | None = None,
) -> None:
    """Run an async function in a task of its own, and fill in how it ended.

    Args:
        body: What to run.
        seconds: Then it is cancelled; it gets two more to end. None: it may take for ever.
        ending: Filled in, also when the caller is cancelled.
        left: Says when they are over how many are left after all: the clock may have stood still.
    """
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    task = loop.create_task(_contained(body, over))
    alarm = None if seconds is None else loop.call_later(max(seconds, 0), _settle, over)
    try:
        await over
        while left is not None and not task.done() and (more := left()) > 0:
            await asyncio.wait((task,), timeout=max(more, _LOOK_SECONDS))
    finally:
        if alarm is not None:
            alarm.cancel()
        if not task.done():
            ending.told_to_end = True
            try:
                await _end(task)
            finally:
                ending.left_behind = not task.done()
    if task.done() and not task.cancelled():
        ending.value, ending.error = task.result()
    elif task.cancelled() and not ending.told_to_end:
        ending.error = RuntimeError("it cancelled itself")


def _settle(over: asyncio.Future[None]) -> None:
    if not over.done():
        over.set_result(None)


async def _contained(
    body: Callable[[], Awaitable[object]], over: asyncio.Future[None]
) -> _ValueOrError:
    try:
        return await body(), None
    except (asyncio.CancelledError, KeyboardInterrupt):
        raise
    except SystemExit as error:
        return None, RuntimeError(f"it called sys.exit({error.code!r})")
    except BaseException as error:  # noqa: BLE001  a tool's body is the user's code
        return None, error
    finally:
        _settle(over)  # a turn of the loop sooner than the end of a task is told


async def _end(task: asyncio.Task[_ValueOrError]) -> None:
    """End a task, or leave it behind; the waiting task may be cancelled again meanwhile."""
    task.cancel()
    try:
        await wait_until_done((task,), GRACE_SECONDS)
    finally:
        if not task.done():
            _left_behind.add(task)
            task.add_done_callback(_left_behind.discard)
