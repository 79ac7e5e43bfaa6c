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


class Selector(selectors.DefaultSelector):
    """What event loops wait with; tells when one of them is about to wait without an end."""

    told: ClassVar[list[Callable[[], None]]] = []

    def select(self, timeout: float | None = None) -> "list[tuple[selectors.SelectorKey, int]]":
        """Wait until a file is ready."""
        if timeout is None:
            for tell in self.told:
                tell()
        return super().select(timeout)


def watch_loops(blocked: Callable[[], None]) -> None:
    """Have it told of every event loop, made from now on, that waits without an end."""
    Selector.told.append(blocked)
    selectors.DefaultSelector = Selector
