"""The cores of the machine, which guests that compute take in turns.

As many guests compute at once as there are cores; of more, each has a core for a slice of time. So
the event loop of the host, which needs a core and the interpreter's lock only for moments, competes
with a few threads, however many scripts compute, and a guest that is stopped ends at once. A guest
that waits for the host has no core. A guest that has just begun, or come back from the host,
computes without one until the next slice: short work is never held up.
"""

import os
import threading
from collections import deque
from collections.abc import Callable

from lineshaft.sandbox.webassembly._forks import in_each_child

SLICE = 0.01
"""Seconds for which a guest computes while others wait for its core."""

_LONGEST_PAUSE = 0.1
"""Seconds between two looks whether guests compute, while none does."""


class Share:
    """One call into a guest, as the cores see it."""

    __slots__ = ("has_core", "stopped", "wakes")

    def __init__(self) -> None:
        self.has_core = False
        self.stopped = False
        self.wakes = threading.Lock()
        """Held; released to wake the thread of the guest."""
        self.wakes.acquire()


class Cores:
    """The cores, and the guests that wait for one.

    Args:
        count: Number of guests that compute at once.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self.renew()

    def renew(self) -> None:
        """Begin anew in a forked process, which has none of the guests."""
        self._guard = threading.Lock()
        self._free = self._count
        self._waiting: deque[Share] = deque()
        self._running = 0
        self._asked = 0
        self._more = threading.Condition(self._guard)
        self._clock: threading.Thread | None = None

    def enter(self, change_epoch: Callable[[], None]) -> Share:
        """Note that a guest is called, which may compute.

        Args:
            change_epoch: Makes all computing guests call `pass_on`.

        Raises:
            RuntimeError: The system allows no further thread; the guest is not called.
        """
        with self._guard:
            if self._running >= self._count:
                if self._clock is None:
                    clock = threading.Thread(
                        target=self._slice,
                        args=(change_epoch,),
                        name="lineshaft-cores",
                        daemon=True,
                    )
                    clock.start()
                    self._clock = clock
                self._more.notify()
            self._running += 1
        return Share()

    def leave(self, share: Share) -> None:
        """Note that the call of a guest is over."""
        with self._guard:
            self._running -= 1
            if share.has_core:
                self._give_up(share)

    def wait(self, share: Share) -> None:
        """Note that a guest waits for the host, and computes again afterwards."""
        with self._guard:
            if share.has_core:
                self._give_up(share)

    def pass_on(self, share: Share) -> None:
        """Give the core to the next guest, and wait for the turn of this one; in its thread."""
        with self._guard:
            self._asked += 1
            if share.stopped:
                return
            if not share.has_core and self._free:
                self._free -= 1
                share.has_core = True
            if share.has_core and not self._waiting:
                return
            if share.has_core:
                self._give_up(share)
            self._waiting.append(share)
        share.wakes.acquire()

    def stop(self, share: Share) -> None:
        """Let a guest that is to end go on without a core."""
        with self._guard:
            share.stopped = True
            if share in self._waiting:
                self._waiting.remove(share)
                share.wakes.release()

    def _give_up(self, share: Share) -> None:
        share.has_core = False
        if self._waiting:
            following = self._waiting.popleft()
            following.has_core = True
            following.wakes.release()
        else:
            self._free += 1

    def _slice(self, change_epoch: Callable[[], None]) -> None:
        pause = SLICE
        while True:
            with self._guard:
                while self._running <= self._count and not self._waiting:
                    self._more.wait()
                asked = self._asked
                self._more.wait(pause)
                pause = SLICE if self._asked > asked else min(pause * 2, _LONGEST_PAUSE)
            change_epoch()


def _number_of_cores() -> int:
    allowed = getattr(os, "sched_getaffinity", None)  # Linux alone has it
    return max(1, len(allowed(0)) if allowed is not None else os.cpu_count() or 1)


CORES = Cores(_number_of_cores())

in_each_child(CORES.renew)
