"""A run whose script some other thread goes through: what the host does, from start to outcome."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Protocol

import anyio

from lineshaft.engines._desk import Desk, Job, finished
from lineshaft.values import Crashed, Outcome

Report = Outcome | BaseException | None
"""What came of a run; None: it was stopped."""


class UnderWay(Protocol):
    """A run that was started."""

    def stop(self) -> None:
        """Any thread: end it at once."""
        ...


Start = Callable[[Job, Callable[[Report], None]], UnderWay]


async def see_through(job: Job, start: Start) -> Outcome:
    """Have a run take place, and return when nothing of it is left.

    Args:
        job: The run.
        start: Begins it; what came of it is reported from another thread.
    """
    desk, ended = job.desk, _Ended()
    under_way = start(job, ended.report)
    try:
        await ended.over()
    except BaseException as gone:
        under_way.stop()
        desk.stop()
        if isinstance(gone, asyncio.CancelledError):  # else nothing can be awaited any more
            await _settled(ended, desk)
        raise
    desk.stop()
    await _settled(ended, desk)
    return _outcome(ended.came, desk)


class _Ended:
    """That a run ended, from its thread to the event loop."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.event = asyncio.Event()
        self.came: Report = None

    async def over(self) -> None:
        """Wait for it."""
        await self.event.wait()

    def report(self, came: Report) -> None:
        """Thread: the run ended."""
        self.came = came
        with suppress(RuntimeError):  # the loop was closed: nobody waits
            self._loop.call_soon_threadsafe(self.event.set)


async def _settled(ended: _Ended, desk: Desk) -> None:
    left = [*desk.unfinished]
    if not ended.event.is_set():
        left.append(asyncio.create_task(ended.over()))
    await settled(left)


async def settled(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Wait until nothing of a run is left; cancellations wait for that too."""
    left = list(tasks)
    if left:
        with anyio.CancelScope(shield=True):
            await finished(left)


def _outcome(came: Report, desk: Desk) -> Outcome:
    if desk.failed is not None:
        raise desk.failed
    if isinstance(came, BaseException):
        raise came
    if came is None:
        return Crashed(message="the engine was closed while the script ran")
    return came
