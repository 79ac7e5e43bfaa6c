"""The runs of a session that are under way: none outlives it, and each has its end."""

from collections.abc import Generator
from contextlib import contextmanager

import anyio

from lineshaft.errors import StateError
from lineshaft.scripts import Control


class LiveRuns:
    """Holds the controls of all runs and calls of a session, whichever task waits for them."""

    def __init__(self) -> None:
        self._controls: set[Control] = set()
        self._taking_up: set[anyio.CancelScope] = set()
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

    @contextmanager
    def taking_up(self, run_id: str) -> Generator[None]:
        """Hold a stored run as long as the block takes it up.

        Raises:
            StateError: It was told to end meanwhile, and stands as before.
        """
        scope = anyio.CancelScope()
        self._taking_up.add(scope)
        try:
            with scope:
                yield
        finally:
            self._taking_up.discard(scope)
            self._empty.set()
        if scope.cancelled_caught:
            why = "the session was closed" if self.ended else "that was cancelled"
            raise StateError(f"run {run_id!r} was not resumed: {why}", hint="it stands as before")

    def cancel(self) -> None:
        """End all runs that are under way; others may begin."""
        for control in self._controls:
            control.end("cancelled", "E_CANCELLED", "it was cancelled")
        self._stop_taking_up()

    async def end(self) -> None:
        """End all runs and wait until each is settled."""
        self.ended = True
        for control in self._controls:
            _end(control)
        self._stop_taking_up()
        with anyio.CancelScope(shield=True):
            while self._controls or self._taking_up:  # one that was taken up is held next
                self._empty = anyio.Event()
                await self._empty.wait()

    def _stop_taking_up(self) -> None:
        for scope in self._taking_up:
            scope.cancel()


def _end(control: Control) -> None:
    control.end("cancelled", "E_CANCELLED", "the session was closed")
