"""Private folders of jails: made for one jail, removed after it, swept if a crash left them."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

from lineshaft.errors import NoBoundary
from lineshaft.files import remove_tree, trusted
from lineshaft.sandbox.bundle import lock_file

_PREFIX = "jail-"
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


class Scratch:
    """One private folder, and the lock that says it is in use.

    Args:
        path: The folder.
        lock: Descriptor of it, locked; each copy of it keeps the folder from the sweep.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.lock = lock
        self._held = True

    def release(self) -> None:
        """Release this process's copy of the lock."""
        if self._held:
            self._held = False
            os.close(self.lock)

    def discard(self) -> None:
        """Remove the folder, and let go of the lock."""
        remove_tree(self.path)
        self.release()


def make_scratch() -> Scratch:
    """Make a private folder, and remove those whose owners are gone.

    Raises:
        NoBoundary: There is no place for it.
    """
    home = _home()
    with _locked(home):
        for stale in home.glob(f"{_PREFIX}*"):
            _sweep(stale)
        path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=home))
        lock = os.open(path, _FOLDER)
        lock_file(lock)
    return Scratch(path, lock)


def _home() -> Path:
    # On Windows each user has a folder for temporary files.
    user = 0 if sys.platform == "win32" else os.geteuid()
    home = Path(tempfile.gettempdir()).resolve() / f"lineshaft-{user}"
    with contextlib.suppress(FileExistsError):
        home.mkdir(mode=0o700)
    if home.is_symlink() or trusted(home.lstat()) != "own":
        raise NoBoundary(
            f"the folder {str(home)!r} for private files belongs to another user",
            hint="remove it, or set TMPDIR to a folder of your own",
        )
    return home


@contextlib.contextmanager
def _locked(folder: Path) -> Generator[None]:
    fd = os.open(folder, _FOLDER)
    try:
        lock_file(fd)
        yield
    finally:
        os.close(fd)


def _sweep(folder: Path) -> None:
    try:
        fd = os.open(folder, _FOLDER | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return
    try:
        lock_file(fd, wait=False)
    except OSError:
        return
    else:
        remove_tree(folder)
    finally:
        os.close(fd)
