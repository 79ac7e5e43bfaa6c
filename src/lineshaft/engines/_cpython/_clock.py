"""How long a script itself has been busy: the time in which it waits for calls is not its own."""

import asyncio
from collections.abc import Callable


class Stopwatch:
    """Counts while it runs.

    Args:
        seconds: What there is in all.
        over: Called when that is used up.
    """

    def __init__(self, seconds: float, over: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._left = seconds
        self._over = over
        self._since: float | None = self._loop.time()
        self._timer: asyncio.TimerHandle | None = self._loop.call_later(seconds, self._look)

    def pause(self) -> None:
        """Stop counting."""
        if self._since is not None:
            self._left -= self._loop.time() - self._since
            self._since = None

    def go_on(self) -> None:
        """Count again."""
        if self._since is None:
            self._since = self._loop.time()
            if self._timer is None:
                self._timer = self._loop.call_later(self._left, self._look)

    def stop(self) -> None:
        """Never call `over`."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        """See, at the earliest moment it could be over, whether it is."""
        self._timer = None
        if self._since is None:
            return
        left = self._left - (self._loop.time() - self._since)
        if left <= 0:
            self._over()
        else:
            self._timer = self._loop.call_later(left, self._look)
