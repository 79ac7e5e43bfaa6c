"""The private folder of one run, outside the workspace."""

import os
import re
import secrets
import shutil
import sys
import tempfile
import threading
import time
import weakref
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from lineshaft.files import lock_file

_NAME = re.compile(r"lineshaft-state-[0-9a-f]{16}")
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)
_YOUNG_SECONDS = 60.0
"""A folder may be this young without its lock being held yet."""


class StateFolder:
    """A folder that only this user can enter: made when first needed, removed when closed.

    Its lock is held meanwhile, so that the folders of killed processes can be recognised, also from
    a container where the numbers of processes are others.
    """

    def __init__(self) -> None:
        name = f"lineshaft-state-{secrets.token_hex(8)}"
        self.real = os.path.join(_temporary(tempfile.gettempdir()), name)  # noqa: PTH118  each run
        self._lock = threading.Lock()
        self._remove: weakref.finalize[..., StateFolder] | None = None

    @property
    def path(self) -> Path:
        """Its path, also before it is made."""
        return Path(self.real)

    def make(self) -> None:
        """See to it that it is there."""
        with self._lock:
            if self._remove is None:
                self.path.mkdir(mode=0o700)
                self._remove = weakref.finalize(self, _remove, self.path, _locked(self.path))

    @property
    def made(self) -> bool:
        """Whether there is anything to remove."""
        return self._remove is not None

    def copy_to(self, other: "StateFolder") -> None:
        """Copy its contents into another one."""
        if self.made:
            other.make()
            shutil.copytree(self.path, other.path, symlinks=True, dirs_exist_ok=True)

    def close(self) -> None:
        """Remove it and its contents."""
        if self._remove is not None:
            self._remove()


@lru_cache(maxsize=8)
def _temporary(path: str) -> str:
    return str(Path(path).resolve())


def _locked(folder: Path) -> int | None:
    """Lock a new folder; return what holds the lock, None where folders cannot be opened.

    Raises:
        OSError: Too many files are open; the folder is gone again.
    """
    if sys.platform == "win32":
        return None
    try:
        fd = os.open(folder, _FOLDER)
    except OSError:
        folder.rmdir()
        raise
    with suppress(OSError):  # a file system without locks: there nothing is swept
        lock_file(fd, wait=False)
    return fd


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)


def sweep_states() -> None:
    """Remove the folders of processes that were killed; on POSIX systems only."""
    if sys.platform == "win32":
        return
    for folder in Path(tempfile.gettempdir()).glob("lineshaft-state-*"):
        if _NAME.fullmatch(folder.name):
            with suppress(OSError):
                _sweep(folder)


def _sweep(folder: Path) -> None:
    """Remove a folder unless it is in use.

    Raises:
        OSError: It is, or it is of another user.
    """
    fd = os.open(folder, _FOLDER | getattr(os, "O_NOFOLLOW", 0))
    try:
        status = os.fstat(fd)
        is_young = time.time() - status.st_mtime < _YOUNG_SECONDS
        if sys.platform != "win32" and status.st_uid == os.getuid() and not is_young:
            lock_file(fd, wait=False)
            shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(fd)
