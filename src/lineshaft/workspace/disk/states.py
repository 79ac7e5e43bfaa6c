"""Exact states of paths, which landings compare, keep and restore.

Below: `disk/access.py`. A `FileState` is a journal's state of a path; a `SeenState` is a state as
    seen on the disk, with a mark that shows quickly whether it still holds.
"""

import hashlib
import os
import stat
import time
from collections.abc import Iterator

from lineshaft.values import Struct
from lineshaft.workspace.disk.access import (
    KEPT_BYTES,
    MOST_BYTES,
    At,
    Folders,
    Kind,
    Mark,
    State,
    chunks,
    kind_of,
    open_file,
    opened,
    status,
    told,
    unsaved,
    whole,
)
from lineshaft.workspace.disk.buffers import Unsaved
from lineshaft.workspace.disk.mounts import Place

_SETTLED_NS = 2_000_000_000
"""A file changed more recently than this may change again without its times telling."""


class FileState(Struct, frozen=True):
    """The state of a path."""

    kind: Kind
    sha256: str | None = None
    """Of a file's content."""

    size: int = 0
    """Of a file's content."""

    mode: int | None = None
    """Permission bits of a file or folder; None: any."""

    target: str | None = None
    """The target of a symlink."""

    def like(self, other: "FileState") -> bool:
        """Whether content and kind are the same."""
        return (self.kind, self.sha256, self.target) == (other.kind, other.sha256, other.target)

    def same(self, other: "FileState") -> bool:
        """Whether they are equal in all respects."""
        return self.like(other) and (
            self.mode is None or other.mode is None or self.mode == other.mode
        )

    def state(self, data: bytes | None = None) -> State:
        """Return it as ledgers know it."""
        return State(self.kind, self.sha256, data, self.mode, self.target)


NOTHING = FileState("missing")


class SeenState(Struct, frozen=True):
    """The state on the disk at the moment of a look."""

    thing: FileState
    mark: Mark | None
    at_ns: int
    data: bytes | None = None
    """A file's content, where it was asked for."""

    @property
    def settled(self) -> bool:
        """Whether a file with the same mark is certainly the same."""
        return self.mark is None or self.mark.changed_ns < self.at_ns - _SETTLED_NS

    def without_data(self) -> "SeenState":
        """Return the same, to be kept."""
        return self if self.data is None else SeenState(self.thing, self.mark, self.at_ns)


def see(place: Place, *, keep: int = KEPT_BYTES, folders: Folders | None = None) -> SeenState:
    """Return the state of a place itself, a file's content hashed.

    Args:
        place: The place.
        keep: The content comes along unless it has more bytes than this.
        folders: Those that are open.
    """
    at_ns = time.time_ns()
    with told(place.path):
        try:
            if folders is not None:
                return _see(place, folders.at(place), at_ns, keep)
            with opened(place) as at:
                return _see(place, at, at_ns, keep)
        except (FileNotFoundError, NotADirectoryError):
            return SeenState(NOTHING, None, at_ns)


def _see(place: Place, at: At, at_ns: int, keep: int) -> SeenState:
    name, folder = at
    found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    kind, mode = kind_of(found.st_mode), stat.S_IMODE(found.st_mode)
    if kind == "symlink":
        return SeenState(
            FileState(kind, target=os.readlink(name, dir_fd=folder)), Mark.of(found), at_ns
        )
    if kind != "file":
        return SeenState(FileState(kind, mode=mode), Mark.of(found), at_ns)
    if (shown := unsaved(place)) is not None:
        return _shown(shown, mode, at_ns, keep)
    digest, kept, size = hashlib.sha256(), bytearray(), 0
    with open_file(place.path, at) as descriptor:
        mark = Mark.of(os.fstat(descriptor))
        for chunk in chunks(descriptor):
            digest.update(chunk)
            size += len(chunk)
            if size <= keep:
                kept += chunk
    data = bytes(kept) if size <= keep else None
    return SeenState(FileState(kind, digest.hexdigest(), size, mode), mark, at_ns, data)


def _shown(data: bytes, mode: int, at_ns: int, keep: int) -> SeenState:
    """Return the state of a file that an editor shows and has not saved."""
    found = Unsaved(data)
    thing = FileState("file", found.sha256, len(data), mode)
    return SeenState(thing, Mark.of_unsaved(found), at_ns, data if len(data) <= keep else None)


def read_whole(place: Place) -> SeenState:
    """Return a file with its content.

    Raises:
        FileMissing: There is none.
        TooLarge: It is too large to hold in memory.
        WorkspaceError: It is no file, or may not be read.
    """
    at_ns = time.time_ns()
    with told(place.path), opened(place) as at, open_file(place.path, at) as descriptor:
        found = os.fstat(descriptor)
        if (shown := unsaved(place)) is not None:
            return _shown(shown, stat.S_IMODE(found.st_mode), at_ns, MOST_BYTES)
        data = whole(place, descriptor)
    thing = FileState(
        "file", hashlib.sha256(data).hexdigest(), len(data), stat.S_IMODE(found.st_mode)
    )
    return SeenState(thing, Mark.of(found), at_ns, data)


def parts_of(place: Place) -> Iterator[bytes]:
    """Return a file's content piece by piece."""
    with told(place.path), opened(place) as at, open_file(place.path, at) as descriptor:
        yield from chunks(descriptor)


def mark_of(place: Place, folders: Folders | None = None) -> Mark | None:
    """Return the mark of a place's present version; None where no file is."""
    if (shown := unsaved(place)) is not None:
        return Mark.of_unsaved(Unsaved(shown))
    if folders is None:
        found = status(place)
        return None if found is None else Mark.of(found)
    with told(place.path):
        try:
            name, folder = folders.at(place)
            return Mark.of(os.stat(name, dir_fd=folder, follow_symlinks=False))
        except (FileNotFoundError, NotADirectoryError):
            return None


def still(place: Place, sight: SeenState) -> bool:
    """Whether a place is unchanged; its content is read only where its mark does not decide."""
    mark = mark_of(place)
    if mark == sight.mark and sight.settled:
        return True
    if mark is None or sight.mark is None:
        return mark is sight.mark
    return see(place, keep=0).thing.same(sight.thing)
