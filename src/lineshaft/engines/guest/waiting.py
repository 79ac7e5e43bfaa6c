"""Waiting without an event loop: a sleep lets the host's time pass, a lock never comes free."""

import _thread
import queue
import sched
import sys
import threading
import time
from types import TracebackType
from typing import Any, SupportsIndex

from .changes import Changes
from .current import current
from .frames import script_line

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportAttributeAccessIssue=false

_LONGEST = 9_000_000_000
_allocate = _thread.allocate_lock


def sleep(seconds: float | SupportsIndex, /) -> None:
    """Delay execution for a given number of seconds."""
    left = float(seconds)
    if left != left:
        raise ValueError("Invalid value NaN (not a number)")
    if left < 0:
        raise ValueError("sleep length must be non-negative")
    if left > _LONGEST:
        raise OverflowError("timestamp too large to convert to C PyTime_t")
    if left > 0:
        current.run.calls.sleep(left)


def _stuck(what: str) -> RuntimeError:
    line = script_line()
    where = f" (line {line})" if line is not None else ""
    return RuntimeError(
        f"{what} waits for something that can never come{where}: a script has one thread"
    )


class Lock:
    """A lock; waiting for one that is taken is an error, since no thread could release it."""

    def __init__(self) -> None:
        self._lock = _allocate()

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:  # noqa: FBT001, FBT002  as Python's own
        """Take it."""
        if self._lock.acquire(False):  # noqa: FBT003  as Python's own
            return True
        if not blocking:
            return False
        if timeout < 0:
            raise _stuck("a lock that is taken already")
        sleep(timeout)
        return False

    acquire_lock = acquire

    def release(self) -> None:
        """Give it back."""
        self._lock.release()

    release_lock = release

    def locked(self) -> bool:
        """Return whether it is taken."""
        return self._lock.locked()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.release()

    def __repr__(self) -> str:
        state = "locked" if self.locked() else "unlocked"
        return f"<{state} _thread.lock object at {hex(id(self))}>"


Lock.__module__, Lock.__qualname__ = "_thread", "lock"


def _wait(self: threading.Condition, timeout: float | None = None) -> bool:
    """Wait until notified, which no thread can do, or until a time-out."""
    if not self._is_owned():
        raise RuntimeError("cannot wait on un-acquired lock")
    if timeout is None:
        raise _stuck("a condition, an event or a queue")
    if timeout > 0:
        sleep(timeout)
    return False


def close_off(changes: Changes) -> None:
    """Put these in the place of Python's own."""
    changes.defaults(sched.scheduler.__init__, (time.monotonic, sleep))
    _replace(changes, "sleep", time.sleep, sleep)
    _replace(changes, "Lock", threading.Lock, Lock)
    changes.attribute(threading.Condition, "wait", _wait)
    pure: Any = getattr(queue, "_PySimpleQueue", None)
    if pure is not None:
        changes.attribute(queue, "SimpleQueue", pure)


def _replace(changes: Changes, name: str, old: object, new: object) -> None:
    """Replace a function of this name in each module that has it."""
    for module in list(sys.modules.values()):
        if vars(module).get(name) is old:
            changes.attribute(module, name, new)
