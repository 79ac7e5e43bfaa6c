"""Tasks and futures that are waited for until they end, also by a task that is cancelled meanwhile.

Above: those that have told work to end and must not leave it behind. Below: asyncio and anyio.
"""

import asyncio
from collections.abc import Iterable
from typing import Any

import anyio


async def wait_until_done(
    work: "Iterable[asyncio.Future[Any]]", seconds: float | None = None
) -> None:
    """Wait until all of some tasks or futures are done, or time is over; a cancel comes after that.

    anyio repeats the cancellation of a scope in each turn of the event loop until the scope is
    left. A task that waited on in it would keep the loop turning, and a thread that it waits for
    would hardly get the interpreter's lock. So the wait is shielded: such a cancellation comes
    through at the next `await` after this one.

    Args:
        work: Tasks and futures; how they end is not looked at.
        seconds: The longest time; None: no bound.

    Raises:
        asyncio.CancelledError: The waiting task was cancelled by asyncio itself meanwhile.
    """
    left: set[asyncio.Future[Any]] = {one for one in work if not one.done()}
    if not left:
        return
    loop = asyncio.get_running_loop()
    until = None if seconds is None else loop.time() + seconds
    cancelled = False
    with anyio.CancelScope(shield=True):
        while left and (until is None or loop.time() < until):
            try:
                await asyncio.wait(left, timeout=until and until - loop.time())
            except asyncio.CancelledError:
                cancelled = True
            left = {one for one in left if not one.done()}
    if cancelled:
        raise asyncio.CancelledError
