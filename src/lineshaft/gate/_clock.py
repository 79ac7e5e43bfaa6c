"""A run's time, which stands still while only a person is waited for.

A script's own clock is the same, but that it goes on while only agents are waited for: these have
a time of their own, and the script may give them less.
"""

import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager


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

        now = time.monotonic()
        self._left = seconds
        self._since: float | None = now
        self._pauses = 0
        self._script: tuple[float, float | None] = (0.0, now)
        """Seconds of the script's clock, and since when it goes on: one value for all threads."""

        self._halts = 0
        """Of the pauses, those in which the script's clock stands still, too."""

    @property
    def remaining(self) -> float:
        """Return the seconds left; below zero when the time is up."""
        if self._since is None:
            return self._left
        return self._left - (time.monotonic() - self._since)

    @property
    def elapsed(self) -> float:
        """Return the seconds that have passed on the script's clock; safe in any thread."""
        passed, since = self._script
        return passed if since is None else passed + time.monotonic() - since

    @property
    def stands(self) -> bool:
        """Whether it stands still."""
        return self._since is None

    def paused(self, *, script: bool = True) -> "Pause":
        """Stop the clock inside the block.

        Args:
            script: Whether the script's own clock stands still, too.
        """
        return Pause(self, script=script)

    @contextmanager
    def alone(self) -> Generator[None]:
        """Stop this clock inside the block, and none around it."""
        self.stop(script=True)
        try:
            yield
        finally:
            self.go_on(script=True)

    def outwards(self) -> "Iterator[RunClock]":
        """Yield this clock and those around it."""
        clock: RunClock | None = self
        while clock is not None:
            yield clock
            clock = clock.around

    def stop(self, *, script: bool) -> None:
        """Stand still until `go_on` was called as often as this.

        Args:
            script: Whether the script's own clock stands still, too.
        """
        self._pauses += 1
        if self._since is not None:
            self._left = self.remaining
            self._since = None
        self._halts += script
        if script:
            self._script = self.elapsed, None

    def go_on(self, *, script: bool) -> None:
        """Let the clock go on, unless another `stop` still holds it."""
        self._halts -= script
        passed, since = self._script
        if self._halts == 0 and since is None:
            self._script = passed, time.monotonic()
        self._pauses -= 1
        if self._pauses == 0:
            self._since = time.monotonic()
            if self._goes_on is not None:
                self._goes_on()


class Pause:
    """A block in which a clock, and those around it, stand still."""

    __slots__ = ("_clock", "_script")

    def __init__(self, clock: RunClock, *, script: bool) -> None:
        self._clock = clock
        self._script = script

    def __enter__(self) -> None:
        for clock in self._clock.outwards():
            clock.stop(script=self._script)

    def __exit__(self, *error: object) -> None:
        for clock in self._clock.outwards():
            clock.go_on(script=self._script)
