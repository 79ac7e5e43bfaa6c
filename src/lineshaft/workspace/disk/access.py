"""Open and read files at decided places, without following any symlink.

Above: `disk/edits.py`, walks and the folder workspace. Below: the operating system. A place was
decided a moment ago; here each of its folders is opened by name from the one before it
(`O_NOFOLLOW`), so that a symlink put there in the meantime is an error, not a way out. Special
files are looked at before they are opened, and opened without blocking. On systems without `dir_fd`
(Windows) the path is used as it is: there, a program that swaps folders while a file is opened can
lead it out.
"""

import errno
import hashlib
import os
import stat
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

from lineshaft.errors import FileMissing, OutsideWorkspace, TooLarge, WorkspaceError
from lineshaft.files import Identity, identity_of
from lineshaft.values import Struct
from lineshaft.workspace.disk.buffers import Unsaved
from lineshaft.workspace.disk.mounts import Place, is_own

MOST_BYTES = 64_000_000
"""Of a file that is read whole."""

KEPT_BYTES = 1_000_000
"""Of a file whose content is kept to count changed lines."""

BY_DESCRIPTOR = os.open in os.supports_dir_fd and os.rename in os.supports_dir_fd
"""Whether a folder stays the same while a file in it is opened."""

_MOST_OPEN = 64
_IN_USE = 3
"""How many of the folders last asked for are still used."""

_FOLDER = getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_WAY = _FOLDER | getattr(os, "O_PATH", 0)
FILE_FLAGS = (
    getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
)
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_DESCRIPTOR = (errno.EMFILE, errno.ENFILE)
_SCARCE = (*_NO_DESCRIPTOR, errno.ENOMEM, errno.EIO)

Kind = Literal["missing", "file", "folder", "symlink", "other"]
At = tuple[str, int | None]
"""A name, and the open folder it is in; without one the name is a whole path."""


class State(Struct, frozen=True):
    """The state of a place at one moment."""

    kind: Kind
    sha256: str | None = None
    """Of a file's content."""

    data: bytes | None = None
    """A file's content, unless it is large."""

    mode: int | None = None
    """Permission bits, where they were asked for."""

    target: str | None = None
    """The target of a symlink."""


MISSING = State("missing")


class Mark(Struct, frozen=True):
    """The mark of a file's version."""

    inode: int
    size: int
    modified_ns: int
    changed_ns: int

    @classmethod
    def of(cls, status: os.stat_result) -> "Mark":
        """Return the mark that the system's word about a file gives."""
        return cls(status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    @classmethod
    def of_unsaved(cls, unsaved: Unsaved) -> "Mark":
        """Return the mark of a content that an editor has not saved, which is its hash."""
        digest = unsaved.sha256 or ""
        return cls(_UNSAVED, len(unsaved.data or b""), int(digest[:15] or "0", 16), 0)

    @property
    def is_unsaved(self) -> bool:
        """Whether it is that of a content which an editor has not saved."""
        return self.inode == _UNSAVED

    @property
    def file(self) -> tuple[int, int, int]:
        """The same for a file that was renamed or linked, which changes one of its times."""
        return self.inode, self.size, self.modified_ns

    def same_file(self, other: "Mark") -> bool:
        """Return whether both may be of one file, before and after it was renamed or linked."""
        return self.file == other.file


_UNSAVED = -1


def unsaved(place: Place) -> bytes | None:
    """Return what an editor shows of a file and has not saved; None: the disk is what counts.

    Raises:
        WorkspaceError: It is there, and the bytes that it would be are not known.
    """
    found = None if place.root.editor is None else place.root.editor.unsaved().get(place.real)
    if found is None:
        return None
    if found.data is None:
        raise WorkspaceError(
            f"{place.path!r} has changes in the editor that are not saved, and its encoding or its"
            " line ends are none that the editor keeps",
            hint="Save it first.",
        )
    return found.data


@contextmanager
def told(path: str) -> Generator[None]:
    """Turn an error of the operating system into one that names the workspace's path alone."""
    try:
        yield
    except OSError as error:
        raise _explained(path, error.errno or 0) from error


def _explained(path: str, number: int) -> WorkspaceError:
    if number == errno.ENOENT:
        return missing(path)
    if number == errno.ENOTDIR:
        return not_a_folder(path)
    if number == errno.ELOOP:
        return OutsideWorkspace(f"{path!r} became a symlink while it was used: try again")
    if number in _NO_ROOM:
        return WorkspaceError(f"there is no room to write {path!r}: the old content is unchanged")
    if number == errno.EBUSY:
        return WorkspaceError(
            f"{path!r} is in use by the system: a mount point is not moved, replaced or deleted",
            hint="Change what is mounted there from outside, or work on files in it.",
        )
    if number == errno.ENOTEMPTY:
        return WorkspaceError(f"the folder {path!r} is not empty", hint="Delete its files first.")
    return WorkspaceError(f"{path!r} cannot be used: {os.strerror(number)}")


def is_scarce(error: WorkspaceError) -> bool:
    """Return whether the machine could not look, so that the error says nothing of a file."""
    cause = error.__cause__
    return isinstance(cause, OSError) and cause.errno in _SCARCE


def is_gone(place: Place) -> bool:
    """Return whether the folder of a place's alias is not there, which says nothing of a file."""
    return not Path(place.root.real).is_dir()


def missing(path: str) -> FileMissing:
    """Return the error for a path where no file is."""
    hint = "A path is no pattern: `find_files` finds files by one." if "*" in path else ""
    return FileMissing(f"there is no file or folder {path!r}", hint=hint)


def not_a_folder(path: str) -> WorkspaceError:
    """Return the error for a path that leads through a file."""
    return WorkspaceError(f"{path!r} cannot be used: a part of it is not a folder")


@contextmanager
def opened(place: Place, *, create: bool = False) -> Generator[At]:
    """Open the folder that a place lies in, and name the place in it.

    Args:
        place: The place; for the mount itself, its folder and `.`.
        create: Make missing folders on the way.
    """
    if not BY_DESCRIPTOR:
        if create:
            os.makedirs(os.path.dirname(place.real), exist_ok=True)  # noqa: PTH103, PTH120  as in At
        yield place.real, None
        return
    own = own_identities(place)
    folder = _open_root(place)
    try:
        for part in place.parts[:-1]:
            inner = _open_folder(part, folder, create=create)
            os.close(folder)
            folder = inner
            must_not_be_own(place, os.fstat(folder), own)
        yield place.parts[-1] if place.parts else ".", folder
    finally:
        os.close(folder)


def own_identities(place: Place) -> set[Identity]:
    """Return the identities of Lineshaft's own folders, as far as a mount could hold them."""
    return set() if place.root.own is None else place.root.own.identities()


def must_not_be_own(place: Place, status: os.stat_result, own: set[Identity]) -> None:
    """Refuse another name of one of Lineshaft's own folders.

    Raises:
        OutsideWorkspace: It is.
    """
    if identity_of(status) in own:
        raise is_own(repr(place.path))


class Folders:
    """Folders that stay open while several things in them are looked at or changed."""

    def __init__(self) -> None:
        self._open: dict[tuple[str, ...], int] = {}
        """In the order in which they were last asked for."""

    def __enter__(self) -> "Folders":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def at(self, place: Place) -> At:
        """Open the folder that a place lies in, unless it is open, and name the place in it.

        The answer holds until three other folders have been asked for: it may be closed then.
        """
        if not BY_DESCRIPTOR or not place.parts:
            return place.real, None
        key = (place.root.real, *place.parts[:-1])
        folder = self._open.pop(key, None)
        if folder is None:
            folder = self._opened(place)
        self._open[key] = folder
        return place.parts[-1], folder

    def _opened(self, place: Place) -> int:
        self._close_all_but(_MOST_OPEN - 1)
        try:
            return _kept_open(place)
        except OSError as error:
            if error.errno not in _NO_DESCRIPTOR:
                raise
        self._close_all_but(_IN_USE)
        return _kept_open(place)

    def _close_all_but(self, count: int) -> None:
        while len(self._open) > count:
            os.close(self._open.pop(next(iter(self._open))))

    def close(self) -> None:
        """Close them."""
        self._close_all_but(0)


def _kept_open(place: Place) -> int:
    with opened(place) as (_, folder):
        return os.dup(folder or 0)


def _open_root(place: Place) -> int:
    try:
        return os.open(place.root.real, _WAY)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            raise
        raise WorkspaceError(f"the folder of '@{place.root.alias}' is gone") from error


def _open_folder(name: str, folder: int, *, create: bool) -> int:
    try:
        return os.open(name, _WAY, dir_fd=folder)
    except FileNotFoundError:
        if not create:
            raise
        with suppress(FileExistsError):
            os.mkdir(name, dir_fd=folder)
        return os.open(name, _WAY, dir_fd=folder)


def status(place: Place) -> os.stat_result | None:
    """Return the system's status of a place itself, or None where no file is."""
    with told(place.path):
        try:
            with opened(place) as (name, folder):
                found = os.stat(name, dir_fd=folder, follow_symlinks=False)
        except (FileNotFoundError, NotADirectoryError):
            return None
    if stat.S_ISDIR(found.st_mode):
        must_not_be_own(place, found, own_identities(place))
    return found


def kind_of(mode: int) -> Kind:
    """Return the kind that a mode gives."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    return "symlink" if stat.S_ISLNK(mode) else "other"


def must_be_file(path: str, kind: Kind) -> None:
    """Raise unless the kind is that of a regular file."""
    if kind == "folder":
        raise WorkspaceError(f"{path!r} is a folder, not a file")
    if kind == "symlink":
        raise OutsideWorkspace(f"{path!r} became a symlink while it was used: try again")
    if kind == "other":
        raise WorkspaceError(f"{path!r} is not a regular file: pipes and devices are not opened")


@contextmanager
def open_file(path: str, at: At) -> Generator[int]:
    """Open a regular file for reading, as a descriptor."""
    name, folder = at
    must_be_file(path, kind_of(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode))
    descriptor = os.open(name, os.O_RDONLY | FILE_FLAGS, dir_fd=folder)
    try:
        must_be_file(path, kind_of(os.fstat(descriptor).st_mode))
        yield descriptor
    finally:
        os.close(descriptor)


def chunks(descriptor: int) -> Iterator[bytes]:
    """Return a file's content in parts; most files are one."""
    size = min(os.fstat(descriptor).st_size, KEPT_BYTES) + 1
    while chunk := os.read(descriptor, size):
        yield chunk


def read(place: Place) -> bytes:
    """Return a file's content.

    Raises:
        FileMissing: There is none.
        TooLarge: It is too large to hold in memory.
        WorkspaceError: It is no file, or may not be read.
    """
    if (shown := unsaved(place)) is not None:
        return shown
    with told(place.path), opened(place) as at, open_file(place.path, at) as descriptor:
        return whole(place, descriptor)


def whole(place: Place, descriptor: int) -> bytes:
    """Return the content of an open file.

    Raises:
        TooLarge: It is too large to hold in memory.
    """
    parts: list[bytes] = []
    left = MOST_BYTES
    for chunk in chunks(descriptor):
        parts.append(chunk)
        left -= len(chunk)
        if left < 0:
            raise TooLarge(
                f"{place.path!r} is larger than {MOST_BYTES:,} bytes",
                hint="a program of python_run or run_command reads it piece by piece",
            )
    return b"".join(parts)


def look(place: Place) -> State:
    """Return the state of a place itself, a file's content included."""
    found = status(place)
    if found is None:
        return MISSING
    kind = kind_of(found.st_mode)
    if kind == "symlink":
        return State(kind, target=_says(place))
    if kind != "file":
        return State(kind)
    digest = hashlib.sha256()
    kept = bytearray()
    with told(place.path), opened(place) as at, open_file(place.path, at) as descriptor:
        for chunk in chunks(descriptor):
            digest.update(chunk)
            kept += chunk[: KEPT_BYTES + 1 - len(kept)]
    data = bytes(kept) if len(kept) <= KEPT_BYTES else None
    return State("file", digest.hexdigest(), data)


def _says(place: Place) -> str | None:
    with told(place.path), opened(place) as (name, folder):
        return os.readlink(name, dir_fd=folder)


@contextmanager
def listing(place: Place) -> "Generator[Iterator[os.DirEntry[str]]]":
    """Open a folder and return its entries, unsorted."""
    with opened(place) as (name, folder):
        if folder is None:
            with os.scandir(name) as entries:
                yield entries
            return
        descriptor = os.open(name, _FOLDER, dir_fd=folder)
        try:
            must_not_be_own(place, os.fstat(descriptor), own_identities(place))
            with os.scandir(descriptor) as entries:
                yield entries
        finally:
            os.close(descriptor)
