"""The private folder of one run, outside the workspace."""

import os
import re
import secrets
import shutil
import sys
import tempfile
import threading
import weakref
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

_NAME = re.compile(r"lineshaft-state-(\d+)-\w+")


class StateFolder:
    """A folder that only this user can enter: made when first needed, removed when closed."""

    def __init__(self) -> None:
        name = f"lineshaft-state-{os.getpid()}-{secrets.token_hex(8)}"
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
                self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

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


def sweep_states() -> None:
    """Remove the folders of processes that were killed; on POSIX systems only."""
    if sys.platform == "win32":
        return
    for folder in Path(tempfile.gettempdir()).glob("lineshaft-state-*"):
        name = _NAME.fullmatch(folder.name)
        with suppress(OSError):
            if name and folder.stat().st_uid == os.getuid() and not _lives(int(name[1])):
                shutil.rmtree(folder, ignore_errors=True)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
