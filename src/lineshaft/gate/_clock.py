"""A run's time, which stands still while only a person is waited for."""

import math
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, nullcontext


class RunClock:
    """Counts seconds down.

    Args:
        seconds: From now.
        moved: Told the seconds left whenever the end moves; infinity while the clock stands still.
        around: The clock of the run that this run is nested in; it stands still with this one.
    """

    def __init__(
        self,
        seconds: float,
        *,
        moved: Callable[[float], None],
        around: "RunClock | None" = None,
    ) -> None:
        self._around = around
        self._moved = moved
        self.depth: int = 0 if around is None else around.depth + 1
        """How many runs this run is nested in."""

        self._left = seconds
        self._since: float | None = time.monotonic()
        self._pauses = 0
        moved(seconds)

    @property
    def remaining(self) -> float:
        """Return the seconds left; below zero when the time is up."""
        if self._since is None:
            return self._left
        return self._left - (time.monotonic() - self._since)

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the clock inside the block."""
        with self._around.paused() if self._around else nullcontext():
            self._stop()
            try:
                yield
            finally:
                self._go_on()

    def _stop(self) -> None:
        self._pauses += 1
        if self._since is not None:
            self._left = self.remaining
            self._since = None
            self._moved(math.inf)

    def _go_on(self) -> None:
        self._pauses -= 1
        if self._pauses == 0:
            self._since = time.monotonic()
            self._moved(self._left)
