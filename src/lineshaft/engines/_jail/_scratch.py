"""Private folders of jails: made for one jail, removed after it, swept if a crash left them."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Generator
from pathlib import Path

from lineshaft.engines._bundle import lock_file
from lineshaft.errors import NoBoundary

_PREFIX = "jail-"


class Scratch:
    """One private folder, and the lock that says it is in use.

    Args:
        path: The folder.
        lock: Descriptor of it, locked; whoever holds a copy keeps the folder from the sweep.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.lock = lock
        self._held = True

    def release(self) -> None:
        """Let go of this process's copy of the lock."""
        if self._held:
            self._held = False
            os.close(self.lock)

    def discard(self) -> None:
        """Remove the folder, and let go of the lock."""
        remove(self.path)
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
        lock = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        lock_file(lock)
    return Scratch(path, lock)


def _home() -> Path:
    home = Path(tempfile.gettempdir()).resolve() / f"lineshaft-{os.geteuid()}"
    with contextlib.suppress(FileExistsError):
        home.mkdir(mode=0o700)
    found = home.lstat()
    if home.is_symlink() or found.st_uid != os.geteuid() or found.st_mode & 0o022:
        raise NoBoundary(
            f"the folder {str(home)!r} for private files belongs to somebody else",
            hint="remove it, or set TMPDIR to a folder of your own",
        )
    return home


@contextlib.contextmanager
def _locked(folder: Path) -> Generator[None]:
    fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        lock_file(fd)
        yield
    finally:
        os.close(fd)


def _sweep(folder: Path) -> None:
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        lock_file(fd, wait=False)
    except OSError:
        return
    else:
        remove(folder)
    finally:
        os.close(fd)


def remove(folder: Path) -> None:
    """Remove a folder, also what is closed to its owner."""
    for place, _, _ in os.walk(folder):
        with contextlib.suppress(OSError):
            for entry in os.scandir(place):
                if entry.is_dir(follow_symlinks=False):
                    Path(entry.path).chmod(0o700)
    shutil.rmtree(folder, ignore_errors=True)
