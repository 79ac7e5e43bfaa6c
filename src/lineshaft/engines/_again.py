"""A question that is put again, after ever longer pauses, as long as nothing else happens."""

import asyncio
from collections.abc import Callable

_FIRST = 0.01
_LONGEST = 1.0
_JUST = 0.001


class Again:
    """Puts a question again. Every call of a script sets it and takes it back: that is cheap.

    A timer is not moved whenever the time moves: it looks what the time is when it rings.

    Args:
        ask: The question.
    """

    def __init__(self, ask: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._ask = ask
        self._timer: asyncio.TimerHandle | None = None
        self._due: float | None = None
        self._pause = _FIRST

    def later(self) -> None:
        """Put it after a pause, which is twice as long as the one before."""
        self._due = self._loop.time() + self._pause
        self._pause = min(self._pause * 2, _LONGEST)
        if self._timer is None or self._timer.when() > self._due:
            self._set(self._due)

    def not_now(self) -> None:
        """Put it no more until `later`, and then soon."""
        self._due, self._pause = None, _FIRST

    def close(self) -> None:
        """Put it never again."""
        self.not_now()
        if self._timer is not None:
            self._timer.cancel()

    def _set(self, due: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_at(due, self._ring)

    def _ring(self) -> None:
        self._timer = None
        if self._due is None:
            return
        if self._due > self._loop.time() + _JUST:
            self._set(self._due)
        else:
            self._due = None
            self._ask()
