"""A lock that keeps checkpoints of a store apart from its commits, in all processes.

SQLite before 3.51.3 can damage a log that is reset by one connection while another one commits to
it; the SQLite that a process has is the host's own. The lock is on the folder of the store where
the system can lock a folder, so that it leaves no file behind; opening the store itself once more
would cost SQLite its own locks.
"""

import errno
import os
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

from lineshaft.files import lock_file, unlock_file

_LOOK_SECONDS = 0.005
_HELD = (errno.EACCES, errno.EAGAIN, errno.EDEADLK)


class CheckpointLock:
    """The lock of one connection.

    Args:
        path: The store.
        patience: Seconds to wait for other connections.

    Raises:
        OSError: The folder of the store cannot be opened.
    """

    def __init__(self, path: Path, *, patience: float) -> None:
        self._patience = patience
        place, flags = path.parent, os.O_RDONLY
        if sys.platform == "win32":  # where folders cannot be locked
            place, flags = path.with_name(f"{path.name}-lock"), os.O_RDWR | os.O_CREAT
        self._fd = os.open(place, flags | getattr(os, "O_CLOEXEC", 0), 0o600)

    @contextmanager
    def commit(self) -> Generator[None]:
        """Keep checkpoints away, as other commits do at the same time.

        Raises:
            TimeoutError: A checkpoint takes longer than the patience.
        """
        if not self._wait(shared=True):
            raise TimeoutError
        try:
            yield
        finally:
            unlock_file(self._fd)

    @contextmanager
    def checkpoint(self, *, wait: bool = False) -> Generator[bool]:
        """Keep commits away; yields whether none is under way.

        Args:
            wait: Whether to wait for those that are under way.
        """
        held = self._wait(shared=False) if wait else self._take(shared=False)
        try:
            yield held
        finally:
            if held:
                unlock_file(self._fd)

    def close(self) -> None:
        """Release the lock; in the child of a fork it stays the parent's."""
        with suppress(OSError):
            os.close(self._fd)

    def _wait(self, *, shared: bool) -> bool:
        until = time.monotonic() + self._patience
        while not self._take(shared=shared):
            if time.monotonic() >= until:
                return False
            time.sleep(_LOOK_SECONDS)
        return True

    def _take(self, *, shared: bool) -> bool:
        try:
            lock_file(self._fd, wait=False, shared=shared)
        except OSError as error:  # a file system without locks has none to wait for
            return error.errno not in _HELD
        return True
