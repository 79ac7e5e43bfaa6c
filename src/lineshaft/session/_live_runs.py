"""The runs of a session that are under way: none outlives it, and each has its end."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from lineshaft.scripts import Control


class LiveRuns:
    """Holds the controls of all runs and calls of a session, whichever task waits for them."""

    def __init__(self) -> None:
        self._controls: set[Control] = set()
        self._empty = anyio.Event()
        self.ended = False
        """Whether all of them were told to end; a run that begins now ends at once."""

    @contextmanager
    def holding(self, control: Control) -> Generator[Control]:
        """Hold a run's control as long as the block lasts."""
        self._controls.add(control)
        if self.ended:
            _end(control)
        try:
            yield control
        finally:
            self._controls.discard(control)
            if not self._controls:
                self._empty.set()

    def cancel(self) -> None:
        """End all runs that are under way; others may begin."""
        for control in self._controls:
            control.end("cancelled", "E_CANCELLED", "it was cancelled")

    async def end(self) -> None:
        """End all runs and wait until each is settled."""
        self.ended = True
        if not self._controls:
            return
        self._empty = anyio.Event()
        for control in self._controls:
            _end(control)
        with anyio.CancelScope(shield=True):
            await self._empty.wait()


def _end(control: Control) -> None:
    control.end("cancelled", "E_CANCELLED", "the session was closed")
