"""Attempts to connect to a server: at once, and again where needed, after growing pauses."""

import time
from collections.abc import Generator
from contextlib import contextmanager
from math import inf

import anyio

from lineshaft.mcp.client.background import background

_LONGEST_PAUSE = 60.0


class Attempts:
    """The attempts of one source, as long as it is open.

    Args:
        at_once: Whether the first one is made now; False: once `begin` is called, or the source is
            needed.
    """

    def __init__(self, *, at_once: bool = True) -> None:
        self.settled = anyio.Event()
        """Set once it is known how the latest attempt went."""

        self.ended = anyio.Event()
        self.closing = anyio.Event()
        self.scope: anyio.CancelScope | None = None
        self._wanted = anyio.Event()
        if at_once:
            self._wanted.set()
        self._begun = at_once
        self._failures = 0
        self._not_before = 0.0

    @property
    def pause(self) -> float:
        """Seconds until another attempt may be made."""
        return self._not_before - time.monotonic()

    def begin(self) -> None:
        """Make the first attempt, where it was put off."""
        if not self._begun:
            self._begun = True
            self._wanted.set()

    async def wanted(self) -> bool:
        """Wait until there is to be a connection; return False once there is to be none."""
        await self.closing_or(self._wanted)
        self._wanted = anyio.Event()
        return not self.closing.is_set()

    async def tried(self, *, again: bool) -> None:
        """Wait for the attempt under way.

        Args:
            again: Have another one made where there is none, if it is time.
        """
        self.begin()
        if again and self.settled.is_set() and self.pause <= 0:
            self.settled = anyio.Event()
            self._wanted.set()
        await self.closing_or(self.settled)

    def failed(self, *, connected: bool) -> None:
        """Take note of a connection that ended, or never was.

        Args:
            connected: Whether it had been one: the first time, another is made at once.
        """
        self._failures += 1
        steps = self._failures - 1 if connected else self._failures
        pause = min(2.0**steps, _LONGEST_PAUSE) if steps else 0.0
        self._not_before = time.monotonic() + pause

    def worked(self) -> None:
        """Take note of a call that was answered."""
        self._failures = 0

    def close(self) -> None:
        """End: what is connected lets go, what is connecting is given up."""
        self.closing.set()
        if self.scope is not None and not self.settled.is_set():
            self.scope.cancel()

    async def closing_or(self, event: anyio.Event) -> None:
        """Wait for an event, or for the end."""
        if event.is_set() or self.closing.is_set():
            return
        async with background() as tasks:
            done = anyio.Event()

            async def watch(each: anyio.Event) -> None:
                await each.wait()
                done.set()

            tasks.start_soon(watch, event)
            tasks.start_soon(watch, self.closing)
            await done.wait()


@contextmanager
def standing_still(scope: anyio.CancelScope) -> Generator[None]:
    """Stop the time of a connection while a person is asked."""
    left = scope.deadline - anyio.current_time()
    scope.deadline = inf
    try:
        yield
    finally:
        scope.deadline = anyio.current_time() + left
