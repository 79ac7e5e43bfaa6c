"""Whether the other threads of a process wait for something that cannot come by itself."""

import selectors
from collections.abc import Callable, Collection
from types import FrameType
from typing import ClassVar

from lineshaft.engines._cpython._inside._interpreter import frames

_IDLE = {
    ("concurrent/futures/thread.py", "_worker"),
    ("threading.py", "_wait_for_tstate_lock"),
    ("threading.py", "join"),
    ("threading.py", "_shutdown"),
}
"""Where a thread waits for other threads, or for work: end of the file's name, and function."""

_TIMED = {("threading.py", "wait"), ("selectors.py", "select")}
"""The same, if no time was given."""

_OURS = "<lineshaft.engines._cpython._inside._channel>"


def is_parked(besides: Collection[int | None]) -> bool:
    """Return whether every other thread can only go on when a call is answered.

    Where that cannot be known it is taken not to be so.
    """
    return all(_waits(frame) for thread, frame in frames().items() if thread not in besides)


def _waits(frame: FrameType) -> bool:
    file, name = frame.f_code.co_filename, frame.f_code.co_name
    if file == _OURS:
        return name == "_take"
    for known in (_IDLE, _TIMED):
        if any(file.endswith(f"/{end}") and name == function for end, function in known):
            return known is _IDLE or _untimed(frame)
    return False


def _untimed(frame: FrameType) -> bool:
    if frame.f_code.co_name == "select" and frame.f_back is not None:
        frame = frame.f_back  # `Selector.select` of ours, which keeps what it was given
    return frame.f_locals.get("timeout", 0) is None


Ready = list[tuple[selectors.SelectorKey, int]]


class Selector(selectors.DefaultSelector):
    """What event loops wait with; tells when one of them is about to wait without an end."""

    told: ClassVar[tuple[Callable[[], None], ...]] = ()
    wire: ClassVar[int]
    stand: ClassVar["Callable[[Selector, float | None], Ready] | None"] = None
    """What is done instead, if anything."""

    def select(self, timeout: float | None = None) -> Ready:
        """Wait until a file is ready."""
        stand = Selector.stand
        return self.wait(timeout) if stand is None else stand(self, timeout)

    def wait(self, timeout: float | None) -> Ready:
        """Wait until a file is ready; tell of it if there is no end."""
        if timeout is None and self.is_calm:
            for tell in self.told:
                tell()
        return super().select(timeout)

    @property
    def is_calm(self) -> bool:
        """Whether its loop waits for no file but the one that answers come from."""
        files = self.get_map()
        return len(files) == 1 + (self.wire in files)


def watch_loops(blocked: Callable[[], None], wire: int) -> None:
    """Have it told of every event loop, made from now on, that waits without an end.

    Args:
        blocked: Told.
        wire: Where answers come from.
    """
    Selector.told, Selector.wire = (blocked,), wire
    selectors.DefaultSelector = Selector
