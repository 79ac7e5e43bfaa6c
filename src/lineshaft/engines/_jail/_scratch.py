"""Private folders of jails: made for one jail, removed after it, swept if a crash left them."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

from lineshaft.errors import NoBoundary

_PREFIX = "jail-"


@dataclass(frozen=True, slots=True)
class Scratch:
    """One private folder, and the lock that says it is in use."""

    path: Path
    lock: int
    """Descriptor of the folder, locked; whoever holds a copy keeps the folder from the sweep."""

    def release(self) -> None:
        """Let go of this process's copy of the lock."""
        os.close(self.lock)


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
        fcntl.flock(lock, fcntl.LOCK_EX)
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
        fcntl.flock(fd, fcntl.LOCK_EX)
        yield
    finally:
        os.close(fd)


def _sweep(folder: Path) -> None:
    try:
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
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
