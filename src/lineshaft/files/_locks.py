"""Locks between processes, on open files; they end with the process, however it ends."""

import importlib
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Hold the lock of a file, which is made where it is missing; others wait.

    Raises:
        OSError: The file cannot be made or opened.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        lock_file(fd)
        yield
    finally:
        os.close(fd)


def lock_file(fd: int, *, wait: bool = True, shared: bool = False) -> None:
    """Lock an open file against other processes that ask; it ends with the descriptor.

    Args:
        fd: The file; a folder on systems that lock folders.
        wait: Until it is free; otherwise an `OSError` says that it is not.
        shared: With others that share it, where the system can; otherwise alone.
    """
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:  # Windows
        _lock_by_msvcrt(fd, wait=wait)
        return
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    fcntl.flock(fd, kind if wait else kind | fcntl.LOCK_NB)


def unlock_file(fd: int) -> None:
    """Release a lock before its descriptor is closed."""
    try:
        fcntl = importlib.import_module("fcntl")
    except ImportError:  # Windows
        msvcrt = importlib.import_module("msvcrt")
        msvcrt.locking(fd, msvcrt.LK_UNLCK, 1)
        return
    fcntl.flock(fd, fcntl.LOCK_UN)


def _lock_by_msvcrt(fd: int, *, wait: bool) -> None:
    try:
        msvcrt = importlib.import_module("msvcrt")
    except ImportError:
        return  # a system with neither has no locks to offer
    while True:
        try:
            msvcrt.locking(fd, msvcrt.LK_LOCK if wait else msvcrt.LK_NBLCK, 1)
        except OSError:  # it gives up by itself after ten seconds
            if not wait:
                raise
        else:
            return
