"""The private folder of one run, outside the workspace."""

import os
import re
import shutil
import tempfile
import weakref
from contextlib import suppress
from pathlib import Path

_NAME = re.compile(r"lineshaft-state-(\d+)-\w+")


class StateFolder:
    """A folder that only this user can enter, removed when it is closed or forgotten."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"lineshaft-state-{os.getpid()}-")).resolve()
        self._remove = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)

    def close(self) -> None:
        """Remove it and all that is in it."""
        self._remove()


def sweep_states() -> None:
    """Remove the folders of processes that were killed; on POSIX systems only."""
    if not hasattr(os, "getuid"):
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
