"""The scripts that containers of one run execute, beside the run's own."""

from collections.abc import AsyncGenerator, Callable, Generator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Protocol

import anyio

from lineshaft.values import KeptScript

MOST_AT_ONCE = 8
"""Scripts of containers that one run executes at once: `memory_mb` bounds each by itself."""


class StopsClock(Protocol):
    """Stops the clock of a script inside a block; where `script` is false, its time alone."""

    def __call__(self, *, script: bool = True) -> AbstractContextManager[None]:
        """Return the block."""
        ...


def _nothing() -> None:
    """Do nothing: no call waits yet."""


class InnerScripts:
    """The scripts of containers that are under way in one run, by the container's id.

    Args:
        recorded: What an earlier segment of the run has kept of them, by the container's key.
    """

    def __init__(self, recorded: Mapping[str, KeptScript] | None = None) -> None:
        self.recorded = recorded or {}
        self.changed: Callable[[], None] = _nothing
        """Called whenever a script has come to wait."""

        self.pauses: dict[str, StopsClock] = {}
        """Stop the clock of a script inside a block."""

        self.working: set[str] = set()
        """Those that compute, or could: no person is asked meanwhile, and nothing is paused."""

        self.queued: dict[str, int] = {}
        """Those that wait until fewer are under way, in order, with their depth."""

        self._slots: dict[int, anyio.CapacityLimiter] = {}
        """By depth: a script that waits for one inside of it does not wait for itself."""

    @asynccontextmanager
    async def slot(self, container: str, depth: int) -> AsyncGenerator[None]:
        """Have a script wait until fewer than `MOST_AT_ONCE` are under way, and be one of them.

        Args:
            container: The id of its container's call.
            depth: How many scripts there are around it.
        """
        slots = self._slots.setdefault(depth, anyio.CapacityLimiter(MOST_AT_ONCE))
        try:
            slots.acquire_on_behalf_of_nowait(container)
        except anyio.WouldBlock:
            self.queued[container] = depth
            self.changed()
            try:
                await slots.acquire_on_behalf_of(container)
            finally:
                self.queued.pop(container, None)
        try:
            yield
        finally:
            slots.release_on_behalf_of(container)
            following = next((each for each, at in self.queued.items() if at == depth), "")
            self.queued.pop(following, None)  # at once: nobody is asked meanwhile

    def begin(self, container: str, paused: StopsClock) -> None:
        """Take a script that begins.

        Args:
            container: The id of its container's call.
            paused: Stops its clock inside a block.
        """
        self.pauses[container] = paused
        self.working.add(container)

    def over(self, container: str) -> None:
        """Forget a script that has ended."""
        self.pauses.pop(container, None)
        self.working.discard(container)

    def stir(self, container: str) -> None:
        """Note that a call of a script has ended: the script may go on."""
        self.working.add(container)

    @contextmanager
    def at_rest(self, container: str) -> Generator[None]:
        """Count a script as one that can only wait, inside the block."""
        self.working.discard(container)
        self.changed()
        try:
            yield
        finally:
            self.working.add(container)
