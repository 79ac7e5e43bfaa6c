"""What ends a run from outside: cancel, time-out, a stop verdict, a limit, a broken record."""

from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import anyio

from lineshaft.gate import RunClock
from lineshaft.values import RunError, RunStatus

_around: ContextVar[RunClock | None] = ContextVar("lineshaft_clock_around", default=None)


@dataclass(frozen=True, slots=True)
class End:
    """How a run was ended from outside."""

    status: RunStatus
    error: RunError


class Control:
    """The reins of one run; the script never sees them.

    Args:
        seconds: The run's time, without waits for a person.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._clock = RunClock(seconds, around=_around.get())
        self._scope = anyio.CancelScope()
        self.reason: End | None = None
        """Set once, by whoever comes first."""

    @property
    def ended(self) -> bool:
        """Whether the run has been told to end."""
        return self.reason is not None

    @property
    def depth(self) -> int:
        """How many runs this run is nested in."""
        return self._clock.depth

    @property
    def remaining(self) -> float:
        """Seconds that the run has left."""
        return self._clock.remaining

    def end(self, kind: RunStatus, code: str, message: str) -> None:
        """End the run; what was said first counts."""
        if self.reason is None:
            self.reason = End(kind, RunError(code=code, message=message))
            self._scope.cancel()

    def paused(self) -> AbstractContextManager[None]:
        """Stop the run's clock inside the block."""
        return self._clock.paused()

    @contextmanager
    def inside(self) -> Generator[None]:
        """Run a block that `end` cancels."""
        token = _around.set(self._clock)
        try:
            with self._scope:
                yield
        finally:
            _around.reset(token)

    async def watch(self) -> None:
        """End the run when its time is up."""
        await self._clock.run_out()
        self.end("timeout", "E_TIMEOUT", f"the run took longer than {self._seconds:g} s")
