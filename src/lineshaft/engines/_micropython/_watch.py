"""The clocks of running scripts: one thread interrupts those that computed for too long."""

import threading
import time
from collections.abc import Callable


class Clock:
    """Counts the time in which one script computes.

    Args:
        watch: Who looks at it.
        seconds: What there is.
        over: Called once from another thread, when that is used up.
    """

    def __init__(self, watch: "Watch", seconds: float, over: Callable[[], None]) -> None:
        self._watch = watch
        self._left = seconds
        self._over = over
        self._since = 0.0
        self.deadline: float | None = None
        """When it will be used up, while it runs."""

        self.is_over = False
        """It was used up."""

    def start(self) -> None:
        """Count from now."""
        self._since = time.monotonic()
        self.deadline = self._since + self._left
        self._watch.starts(self)

    def pause(self) -> None:
        """Count no more."""
        if self.deadline is not None:
            self.deadline = None
            self._left -= time.monotonic() - self._since

    def ring(self) -> None:
        """Watch: the time is over."""
        self.deadline = None
        self.is_over = True
        self._over()


class Watch:
    """One thread for all clocks; it sleeps until the first of them is over."""

    def __init__(self) -> None:
        self._clocks: set[Clock] = set()
        self._changed = threading.Condition()
        self._wakes_at = 0.0
        self._thread: threading.Thread | None = None
        self._closed = False

    def add(self, clock: Clock) -> None:
        """Look at a clock from now on."""
        with self._changed:
            self._clocks.add(clock)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._work, name="lineshaft-micropython-clock", daemon=True
                )
                self._thread.start()

    def remove(self, clock: Clock) -> None:
        """Look at it no more: afterwards it certainly does not ring."""
        with self._changed:
            self._clocks.discard(clock)

    def starts(self, clock: Clock) -> None:
        """Clock: may have to be looked at sooner than planned."""
        deadline = clock.deadline
        if deadline is not None and deadline < self._wakes_at:
            with self._changed:
                self._changed.notify()

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            self._closed = True
            self._changed.notify()
            thread, self._thread = self._thread, None
        if thread is not None:
            thread.join()

    def _work(self) -> None:
        with self._changed:
            while not self._closed:
                self._wakes_at = float("inf")
                for clock in list(self._clocks):
                    deadline = clock.deadline
                    if deadline is None:
                        continue
                    if deadline <= time.monotonic():
                        clock.ring()
                    else:
                        self._wakes_at = min(self._wakes_at, deadline)
                pause = self._wakes_at - time.monotonic()
                self._changed.wait(None if pause == float("inf") else max(pause, 0))
