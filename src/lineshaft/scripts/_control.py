"""Control of a run from outside: cancel, time-out, a stop verdict, a limit, a broken record."""

import asyncio
import math
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

import anyio

from lineshaft.gate import RunClock
from lineshaft.values import RunError, RunStatus, Struct

PREPARE_SECONDS = 900.0
"""The longest that a run may be prepared: packages are fetched and native code is made."""

_around: ContextVar[RunClock | None] = ContextVar("lineshaft_clock_around", default=None)


class End(Struct, frozen=True):
    """How a run was ended from outside."""

    status: RunStatus
    error: RunError


class Control:
    """The control of one run from outside; its script never sees it.

    Args:
        seconds: The run's time, without waits for a person.
        used: How much of it an earlier segment of the run took.
        prepare_seconds: The time for what comes before the script starts.
    """

    def __init__(
        self, seconds: float, *, used: float = 0, prepare_seconds: float = PREPARE_SECONDS
    ) -> None:
        self._seconds = seconds
        self._used = used
        self._prepare_seconds = prepare_seconds
        self._scope = anyio.CancelScope()
        self._said: End | None = None
        self._clock = RunClock(seconds - used, goes_on=self._watch, around=_around.get())
        self._alarm: asyncio.TimerHandle | None = None
        self._over = False
        self._watch()

    def _watch(self) -> None:
        """Check the clock when its time may be up; the clock may have stood still until then."""
        left = self._clock.remaining
        if self._alarm is None and left < math.inf and not self._over:
            loop = asyncio.get_running_loop()
            self._alarm = loop.call_later(max(left, 0), self._look)

    def _look(self) -> None:
        self._alarm = None
        if self._clock.stands:
            return  # it is watched again when it goes on
        if self._clock.remaining > 0:
            self._watch()
        else:
            self.end("timeout", "E_TIMEOUT", f"the run took longer than {self._seconds:g} s")

    @property
    def reason(self) -> End | None:
        """Why the run was ended, as far as it was ended from outside."""
        return self._said

    @property
    def ended(self) -> bool:
        """Whether the run has been told to end."""
        return self._scope.cancel_called

    @property
    def stands(self) -> bool:
        """Whether it ended so that calls which were not made stay pending."""
        return self._said is not None and self._said.status == "paused"

    @property
    def depth(self) -> int:
        """How many runs this run is nested in."""
        return self._clock.depth

    @property
    def remaining(self) -> float:
        """Seconds that the run has left."""
        return self._clock.remaining

    @property
    def used(self) -> float:
        """Seconds of the run's time that are used; 0 where its time has no bound."""
        return 0 if self._seconds == math.inf else max(self._seconds - self.remaining, 0)

    def elapsed(self) -> float:
        """Return the seconds on the script's clock, without waits for approvals; thread-safe."""
        return self._used + self._clock.elapsed

    def end(self, kind: RunStatus, code: str, message: str, hint: str = "") -> None:
        """End the run; the first reason counts."""
        if not self.ended:
            self._said = End(kind, RunError(code=code, message=message, hint=hint))
            self._scope.cancel()

    def paused(self, *, script: bool = True) -> AbstractContextManager[None]:
        """Stop the run's clock inside the block.

        Args:
            script: Whether the script's own clock stands still, too.
        """
        return self._clock.paused(script=script)

    def queued(self) -> AbstractContextManager[None]:
        """Stop the clock of this script inside the block; what is around it may go on meanwhile."""
        return self._clock.alone()

    @contextmanager
    def preparing(self) -> Generator[None]:
        """Stop the run's clock inside the block, which has a time of its own."""
        text = f"the run could not be prepared within {self._prepare_seconds:g} s"
        loop = asyncio.get_running_loop()
        alarm = loop.call_later(self._prepare_seconds, self.end, "timeout", "E_TIMEOUT", text)
        try:
            with self.paused():
                yield
        finally:
            alarm.cancel()

    @contextmanager
    def inside(self) -> Generator[None]:
        """Run a block that `end` cancels."""
        token = _around.set(self._clock)
        try:
            with self._scope:
                yield
        finally:
            _around.reset(token)
            self._over = True
            if self._alarm is not None:
                self._alarm.cancel()
