"""A run's time, which stands still while only a person is waited for."""

import time
from collections.abc import Callable, Iterator


class RunClock:
    """Counts seconds down.

    Args:
        seconds: From now.
        goes_on: Called when the clock goes on after it stood still.
        around: The clock of the run that this run is nested in; it stands still with this one.
    """

    def __init__(
        self,
        seconds: float,
        *,
        goes_on: Callable[[], object] | None = None,
        around: "RunClock | None" = None,
    ) -> None:
        self.around = around
        """The clock of the run that this one is nested in."""

        self._goes_on = goes_on
        self.depth: int = 0 if around is None else around.depth + 1
        """How many runs this run is nested in."""

        self._left = seconds
        self._since: float | None = time.monotonic()
        self._pauses = 0

    @property
    def remaining(self) -> float:
        """Return the seconds left; below zero when the time is up."""
        if self._since is None:
            return self._left
        return self._left - (time.monotonic() - self._since)

    @property
    def stands(self) -> bool:
        """Whether it stands still."""
        return self._since is None

    def paused(self) -> "Pause":
        """Stop the clock inside the block."""
        return Pause(self)

    def outwards(self) -> "Iterator[RunClock]":
        """Yield this clock and those around it."""
        clock: RunClock | None = self
        while clock is not None:
            yield clock
            clock = clock.around

    def stop(self) -> None:
        """Stand still until `go_on` was called as often as this."""
        self._pauses += 1
        if self._since is not None:
            self._left = self.remaining
            self._since = None

    def go_on(self) -> None:
        """Go on, if nothing else keeps it."""
        self._pauses -= 1
        if self._pauses == 0:
            self._since = time.monotonic()
            if self._goes_on is not None:
                self._goes_on()


class Pause:
    """A block in which a clock, and those around it, stand still."""

    __slots__ = ("_clock",)

    def __init__(self, clock: RunClock) -> None:
        self._clock = clock

    def __enter__(self) -> None:
        for clock in self._clock.outwards():
            clock.stop()

    def __exit__(self, *error: object) -> None:
        for clock in self._clock.outwards():
            clock.go_on()
