"""A copy of a folder for one run, where nothing redirects the writes of the inside."""

import errno
import os
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from lineshaft.errors import EngineError, NoBoundary
from lineshaft.sandbox.jail._differences import PathState, changes_of_copy, states
from lineshaft.sandbox.jail._laying import lay_over_copy, visible
from lineshaft.sandbox.jail._spec import Changes, SandboxSpec
from lineshaft.sandbox.jail._views import file_id, linked_files
from lineshaft.values import Struct

_GONE = (FileNotFoundError, NotADirectoryError)
"""The errors of a path that another program removes or replaces at the moment."""

_FOLDER = (
    os.O_RDONLY
    | getattr(os, "O_DIRECTORY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
)
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
)

_CHUNK = 1 << 20
MOST_BYTES = 2 << 30
MOST_FILES = 100_000


class Copied(Struct, frozen=True):
    """A copy, and its states before the run."""

    root: Path
    copy: Path
    before: dict[str, PathState]
    spec: SandboxSpec

    def changes(self) -> Changes:
        """Return the differences after the run."""
        return changes_of_copy(self.copy, self.root, self.before, self.spec)


def copy_apart(root: Path, copy: Path, *, spec: SandboxSpec, user: int | None) -> Copied:
    """Copy a folder with what is laid over it, without hidden paths and those removed meanwhile.

    Paths that this user may not read are left out too, and count as hidden.

    Args:
        root: The folder.
        copy: The target.
        spec: Their hidden paths are left out, their staged changes laid over.
        user: The owner of the copy; None: this user.

    Raises:
        NoBoundary: It is too large to copy for each run.
        EngineError: The folder cannot be read, or what is laid over it not be written.
        WorkspaceError: Staged changes contradict what another program did meanwhile.
    """
    real = root.resolve()
    hidden = frozenset(path.resolve() for path in spec.hidden)
    over = visible(spec, real)
    _check_size(real, hidden, sum(file.size for file in over.values()))
    linked = frozenset(linked_files(hidden))

    def is_wanted(path: Path) -> bool:
        return path not in hidden and not _special(path) and file_id(path) not in linked

    left_out: list[Path] = []
    try:
        _copy_folder(real, copy, is_wanted, left_out)
    except (OSError, shutil.Error) as error:
        raise EngineError(f"the folder {str(root)!r} cannot be copied: {error}") from error
    lay_over_copy(over, copy)
    if user is not None:
        copy.chmod(
            0o755
        )  # or the process that puts up the boundary, now without privileges, cannot enter
        _own(copy, user)
    spec = replace(spec, hidden=(*spec.hidden, *left_out))
    return Copied(real, copy, states(copy), spec)


def _copy_folder(
    source: Path,
    target: Path,
    is_wanted: Callable[[Path], bool],
    left_out: list[Path],
    above: int | None = None,
) -> None:
    """Copy a folder; each one is opened in the one above it, so that none is a symlink."""
    folder = os.open(source if above is None else source.name, _FOLDER, dir_fd=above)
    try:
        target.mkdir()
        with os.scandir(folder) as found:
            entries = list(found)
        for entry in entries:
            path, place = source / entry.name, target / entry.name
            try:
                if not is_wanted(path):
                    continue
                if entry.is_dir(follow_symlinks=False):
                    _copy_folder(path, place, is_wanted, left_out, folder)
                else:
                    _copy_file(entry.name, folder, place)
            except _GONE:
                continue
            except PermissionError:
                left_out.append(path)
        _copy_status(os.fstat(folder), target)
    finally:
        os.close(folder)


def _copy_file(name: str, folder: int, place: Path) -> None:
    """Copy a file or a symlink, whatever it is by now; anything else is none to copy."""
    try:
        source = os.open(name, _READ, dir_fd=folder)
    except OSError as error:
        if error.errno != errno.ELOOP:
            raise
        try:
            says = os.readlink(name, dir_fd=folder)
        except OSError:
            return  # it is none any longer
        place.symlink_to(says)
        return
    with os.fdopen(source, "rb") as reader:
        status = os.fstat(source)
        if stat.S_ISREG(status.st_mode):
            with place.open("xb") as writer:
                shutil.copyfileobj(reader, writer, _CHUNK)
            _copy_status(status, place)


def _copy_status(status: os.stat_result, place: Path) -> None:
    place.chmod(stat.S_IMODE(status.st_mode))
    os.utime(place, ns=(status.st_atime_ns, status.st_mtime_ns))


def _special(path: Path) -> bool:
    return not (path.is_symlink() or path.is_dir() or path.is_file())


def _check_size(root: Path, hidden: frozenset[Path], staged: int) -> None:
    files, size = 0, staged
    waiting = [root]
    while waiting:
        for entry in _entries(waiting.pop()):
            if Path(entry.path) in hidden:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(Path(entry.path))
            with suppress(*_GONE):
                files, size = files + 1, size + entry.stat(follow_symlinks=False).st_size
        if files > MOST_FILES or size > MOST_BYTES:
            raise NoBoundary(
                f"{str(root)!r} is too large to be copied for each run",
                hint="use sandlock, or a smaller workspace",
            )


def _entries(folder: Path) -> "list[os.DirEntry[str]]":
    with suppress(*_GONE, PermissionError), os.scandir(folder) as entries:
        return list(entries)
    return []


def _own(copy: Path, user: int) -> None:
    if sys.platform == "win32":
        return
    os.chown(copy, user, user)
    for folder, folders, names in os.walk(copy):
        for name in (*folders, *names):
            os.chown(Path(folder, name), user, user, follow_symlinks=False)
