"""Write, move and delete files at decided places, each as one step.

Above: the folder workspace. Below: `disk/access.py`. A write is atomic for readers and for a killed
    process: a temporary file beside the target is renamed over it. It is not synced to the medium,
        so a loss of power may undo it: a sync would cost each write milliseconds, and builds and
        checkouts do without it too.
"""

import errno
import os
import re
import secrets
import stat
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from lineshaft.errors import WorkspaceError
from lineshaft.workspace.disk.access import (
    BY_DESCRIPTOR,
    FILE_FLAGS,
    MISSING,
    At,
    Kind,
    State,
    listing,
    look,
    missing,
    must_be_file,
    opened,
    read,
    status,
    told,
)
from lineshaft.workspace.disk.mounts import Place

_TEMPORARY = re.compile(r"\.lineshaft-[0-9a-f]{16}\.tmp")
_STALE_SECONDS = 3_600

Approve = Callable[[State], None]
"""Raise if the present file must not be changed."""


def is_temporary(name: str) -> bool:
    """Whether a file is a temporary one of Lineshaft, before it gets its name."""
    return _TEMPORARY.fullmatch(name) is not None


def write(place: Place, data: bytes, approve: Approve, *, mode: int | None = None) -> State:
    """Write a file whole, folders on the way created.

    Args:
        place: Its place; a symlink at its end was followed when it was decided.
        data: The new content.
        approve: Called with the present state, before anything is written.
        mode: Its permission bits; None: they are kept.

    Returns:
        The state before.
    """
    path = place.path
    before = look(place)
    approve(before)
    if before is not MISSING:
        must_be_file(path, before.kind)
        if before.data == data and mode in (None, _mode_of(place)):
            return before
    with _undone_if_it_fails(place, before), told(path), opened(place, create=True) as at:
        old = None if before is MISSING else writable(path, at)
        _replace(at, data, old, mode)
    return before


def _mode_of(place: Place) -> int | None:
    found = status(place)
    return None if found is None else stat.S_IMODE(found.st_mode)


@contextmanager
def _undone_if_it_fails(place: Place, before: State) -> Generator[None]:
    """Delete the folders on the way that were made for something that then failed."""
    existing = len(place.parts) if before is not MISSING else _existing_folders(place)
    try:
        yield
    except BaseException:
        _unmake_folders(place, existing)
        raise


def make_folder(place: Place, *, mode: int | None = None) -> State:
    """Make a folder, those on the way too, and return what was there.

    Raises:
        FileExistsError: A file or symlink is there.
    """
    before = look(place)
    if before.kind not in ("missing", "folder"):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    with _undone_if_it_fails(place, before), told(place.path):
        with opened(place, create=True) as (name, folder):
            if before is MISSING:
                os.mkdir(name, dir_fd=folder)
        if mode is not None:
            set_mode(place, mode)
    return before


def set_mode(place: Place, mode: int) -> None:
    """Give a folder its permission bits."""
    if sys.platform == "win32" or not BY_DESCRIPTOR:
        return
    flags = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | FILE_FLAGS
    with opened(place) as (name, folder):
        descriptor = os.open(name, flags, dir_fd=folder)
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


def link(place: Place, target: str) -> None:
    """Make a symlink, folders on the way too.

    Raises:
        FileExistsError: The place is not free.
    """
    before = look(place)
    if before is not MISSING:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))
    with _undone_if_it_fails(place, before), opened(place, create=True) as (name, folder):
        os.symlink(target, name, dir_fd=folder)


def writable(path: str, at: At) -> os.stat_result:
    """Return the status of a file, or raise if it may not be written."""
    name, folder = at
    effective = os.access in os.supports_effective_ids
    if not os.access(name, os.W_OK, dir_fd=folder, effective_ids=effective):
        raise WorkspaceError(f"{path!r} is write-protected")
    return os.stat(name, dir_fd=folder, follow_symlinks=False)


def _replace(at: At, data: bytes, old: os.stat_result | None, mode: int | None = None) -> None:
    name, folder = at
    base = "" if folder is not None else os.path.dirname(name)  # noqa: PTH120  as in At
    temporary = os.path.join(base, f".lineshaft-{secrets.token_hex(8)}.tmp")  # noqa: PTH118  as in At
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | FILE_FLAGS
    descriptor = os.open(temporary, flags, 0o666 if old is None else 0o600, dir_fd=folder)
    if mode is None and old is not None:
        mode = stat.S_IMODE(old.st_mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if old is not None and sys.platform != "win32":
                with suppress(PermissionError):
                    os.fchown(descriptor, old.st_uid, old.st_gid)
            if mode is not None and sys.platform != "win32":
                os.fchmod(descriptor, mode)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise


def _existing_folders(place: Place) -> int:
    """Return how many of the folders that lead to a place are there."""
    for count in range(len(place.parts) - 1, 0, -1):
        if status(Place(place.root, place.parts[:count], place.writable)) is not None:
            return count
    return 0


def _unmake_folders(place: Place, existing: int) -> None:
    """Delete the folders that were made for something that then failed."""
    for count in range(len(place.parts) - 1, existing, -1):
        made = Place(place.root, place.parts[:count], place.writable)
        with suppress(OSError, WorkspaceError), opened(made) as (name, folder):
            os.rmdir(name, dir_fd=folder)


def move(source: Place, target: Place, approve: Approve) -> State:
    """Move a file or folder to a free place.

    Args:
        source: The place to move, not followed if it is a symlink.
        target: Its new place; folders on the way are created.
        approve: Called with the state of the source.

    Returns:
        The state of the source before.

    Raises:
        FileExistsError: The target is not free.
    """
    before = look(source)
    if before is MISSING:
        raise missing(source.path)
    approve(before)
    if not source.parts:
        raise WorkspaceError(f"{source.path!r} is a mounted folder: it is not moved")
    if source.root == target.root and target.parts[: len(source.parts)] == source.parts:
        raise WorkspaceError(f"{source.path!r} cannot be moved into itself")
    with (
        _undone_if_it_fails(target, MISSING),
        opened(source) as old,
        opened(target, create=True) as new,
    ):
        try:
            _rename(before.kind, old, new)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _carry(before, source, target)
    return before


def _rename(kind: Kind, old: At, new: At) -> None:
    """Rename without replacing a file that appears at the new name meanwhile."""
    if not BY_DESCRIPTOR:
        os.rename(old[0], new[0])  # noqa: PTH104  fails on Windows where something is there
    elif kind == "folder":
        os.mkdir(new[0], dir_fd=new[1])  # an empty folder is what a folder may replace
        try:
            os.rename(old[0], new[0], src_dir_fd=old[1], dst_dir_fd=new[1])
        except BaseException:
            os.rmdir(new[0], dir_fd=new[1])
            raise
    elif _linked(old, new):
        _leave(old, new)
    else:
        os.rename(old[0], new[0], src_dir_fd=old[1], dst_dir_fd=new[1])


def _linked(old: At, new: At) -> bool:
    """Give a file a second name; False where the file system has no hard links."""
    try:
        os.link(old[0], new[0], src_dir_fd=old[1], dst_dir_fd=new[1], follow_symlinks=False)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.EMLINK):
            raise
        _must_be_free(new)
        return False
    return True


def _leave(old: At, new: At) -> None:
    """Delete the old name of a file that has its new one; where that fails, the new one goes."""
    try:
        os.unlink(old[0], dir_fd=old[1])
    except OSError:
        os.unlink(new[0], dir_fd=new[1])
        raise


def _must_be_free(at: At) -> None:
    with suppress(FileNotFoundError):
        os.stat(at[0], dir_fd=at[1], follow_symlinks=False)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def _carry(before: State, source: Place, target: Place) -> None:
    """Move a file to another file system."""
    if before.kind != "file":
        raise WorkspaceError(
            f"{source.path!r} is not a file, and {target.path!r} lies on another disk",
            hint="Move its files one by one.",
        )
    data, old = read(source), status(source)
    with opened(source) as (name, folder), opened(target) as at:
        _must_be_free(at)
        _replace(at, data, old)
        _leave((name, folder), at)


def delete(place: Place, approve: Approve) -> State:
    """Delete a file, an empty folder or a symlink.

    Args:
        place: The place to delete; not followed if it is a symlink.
        approve: Called with the present state.

    Returns:
        The state before.
    """
    before = look(place)
    if before is MISSING:
        raise missing(place.path)
    approve(before)
    if not place.parts:
        raise WorkspaceError(f"{place.path!r} is a mounted folder: it is not deleted")
    with told(place.path), opened(place) as (name, folder):
        if before.kind == "folder":
            os.rmdir(name, dir_fd=folder)
        else:
            os.unlink(name, dir_fd=folder)
    return before


def sweep(place: Place) -> None:
    """Delete temporary files that a killed process left in a place's folder."""
    folder = Place(place.root, place.parts[:-1], place.writable)
    oldest = time.time() - _STALE_SECONDS
    with suppress(OSError, WorkspaceError), listing(folder) as entries:
        stale = [
            entry.name
            for entry in entries
            if is_temporary(entry.name) and entry.stat(follow_symlinks=False).st_mtime < oldest
        ]
        for name in stale:
            with opened(Place(folder.root, (*folder.parts, name), folder.writable)) as at:
                os.unlink(at[0], dir_fd=at[1])
