"""A lock between processes: held by an open file, so that it ends with its process."""

import errno
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from lineshaft.errors import WorkspaceError

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_LOOK_SECONDS = 0.005
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


@contextmanager
def locked(path: Path, *, seconds: float) -> Generator[None]:
    """Hold a lock.

    Args:
        path: Its file, which is made.
        seconds: The longest wait for its holder.

    Raises:
        WorkspaceError: Another process holds it for longer.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait(descriptor, until=time.monotonic() + seconds)
        try:
            yield
        finally:
            _release(descriptor)
    finally:
        os.close(descriptor)


def _wait(descriptor: int, *, until: float) -> None:
    while not _taken(descriptor):
        if time.monotonic() >= until:
            raise WorkspaceError(
                "another process has been landing changes in this workspace for too long",
                hint="Try again; if nothing seems to happen there, end that process.",
            )
        time.sleep(_LOOK_SECONDS)


def _taken(descriptor: int) -> bool:
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in _HELD:
            return False
        raise
    return True


def _release(descriptor: int) -> None:
    if sys.platform != "win32":  # there it ends with the descriptor, which no child has
        fcntl.flock(descriptor, fcntl.LOCK_UN)
