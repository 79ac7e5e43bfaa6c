"""Threads that a cancelled call waits for.

asyncio itself, not anyio's threads: those are given up when a task is cancelled from outside of
anyio, as the gate does, and what they hold would be let go of while they work.
"""

import asyncio
from collections.abc import Callable
from threading import Event
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

T = TypeVar("T")


def _keep(result: object) -> None:
    del result


async def to_the_end(work: Callable[[Event], T], drop: Callable[[T], object] = _keep) -> T:
    """Do something in a thread; a cancelled task says so to it, and waits for it all the same.

    Args:
        work: What is done; the event is set when the task is cancelled.
        drop: Is given the result of work that came to its end all the same.
    """
    told = Event()
    # A limiter of its own: programs must not wait for threads that other programs hold.
    thread = to_thread.run_sync(work, told, limiter=CapacityLimiter(1))
    task = asyncio.ensure_future(thread)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait((task,))
        except asyncio.CancelledError as error:
            cancelled = error
            told.set()
    if cancelled is not None:
        if task.exception() is None:
            drop(task.result())
        raise cancelled
    return task.result()
