"""Write, move and delete in a stage, with the same outcome as on the disk.

Above: the staged view, which has decided the places and checked for staleness. Below: the overlay.
"""

import errno
import hashlib
import os
from collections.abc import Iterator

from msgspec.structs import replace

from lineshaft.errors import WorkspaceError
from lineshaft.workspace.disk import (
    FileState,
    Kind,
    Place,
    SeenState,
    kind_of,
    missing,
    not_a_folder,
    opened,
    scan,
    told,
    writable,
)
from lineshaft.workspace.staging.overlay import GONE, Overlay, OverlayNode

Moved = tuple[Place, Place, SeenState]
"""The old place of an entry, its new place, its state."""


def exists() -> FileExistsError:
    """Return the error for a name that is taken."""
    return FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST))


def write(
    overlay: Overlay, place: Place, data: bytes, before: SeenState, *, mode: int | None
) -> FileState:
    """Give a file a content, and return the new state.

    Args:
        overlay: The stage.
        place: The file.
        data: Its new content.
        before: The present state, which may be written over.
        mode: Its permission bits; None: they are kept.
    """
    was = before.thing
    if mode is None:
        mode = was.mode
    after = FileState("file", hashlib.sha256(data).hexdigest(), len(data), mode)
    if was.kind != "missing" and after == was:
        return after
    if was.kind != "missing" and overlay.find(place.real) is None:
        with told(place.path), opened(place) as at:
            writable(place.path, at)
    nodes = _folders(overlay, place)
    nodes[place] = OverlayNode(after, overlay.contents.put(data))
    overlay.put(nodes, {place: before} if before.at_ns else None)
    return after


def make_folder(
    overlay: Overlay, place: Place, before: SeenState, *, mode: int | None
) -> FileState:
    """Make a folder, or give one its permission bits, and return the new state.

    Raises:
        FileExistsError: A file or symlink is there.
    """
    was = before.thing
    if was.kind not in ("missing", "folder"):
        raise exists()
    after = FileState("folder", mode=was.mode if mode is None else mode)
    if was.kind == "missing" or after != was:
        nodes = _folders(overlay, place)
        nodes[place] = OverlayNode(after)
        overlay.put(nodes, {place: before} if before.at_ns else None)
    return after


def link(overlay: Overlay, place: Place, target: str, before: SeenState) -> FileState:
    """Make a symlink, and return it.

    Raises:
        FileExistsError: The place is not free.
    """
    if before.thing.kind != "missing":
        raise exists()
    after = FileState("symlink", target=target)
    overlay.put({**_folders(overlay, place), place: OverlayNode(after)})
    return after


def delete(overlay: Overlay, place: Place, before: SeenState) -> None:
    """Delete a file, an empty folder or a symlink."""
    if before.thing.kind == "missing":
        raise missing(place.path)
    if not place.parts:
        raise WorkspaceError(f"{place.path!r} is a mounted folder: it is not deleted")
    _must_be_known(place, before.thing.kind)
    if before.thing.kind == "folder":
        with told(place.path):
            if next(overlay.entries(place), None) is not None:
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY))
    overlay.put({place: GONE}, {place: before} if before.at_ns else None)


def move(overlay: Overlay, source: Place, target: Place, before: SeenState) -> list[Moved]:
    """Move a file, a symlink or a folder with its contents to a free place.

    Returns:
        Each entry that was moved, folders before their contents.

    Raises:
        FileExistsError: The target is not free.
    """
    if before.thing.kind == "missing":
        raise missing(source.path)
    if not source.parts:
        raise WorkspaceError(f"{source.path!r} is a mounted folder: it is not moved")
    if target.real == source.real or target.real.startswith(source.real + os.sep):
        raise WorkspaceError(f"{source.path!r} cannot be moved into itself")
    if overlay.status(target) is not None:
        raise exists()
    moved = list(_below(overlay, source, target, before))
    nodes = _folders(overlay, target)
    gone: dict[Place, OverlayNode] = {}
    bases: dict[Place, SeenState] = {}
    for old, new, sight in moved:
        node = overlay.find(old.real)
        if node is None:
            node = OverlayNode(sight.thing, came=old if sight.thing.kind == "file" else None)
            bases[old] = sight
        elif overlay.own(old.real) is None:
            node = overlay.taken(node)
        nodes[new], gone[old] = node, GONE
    overlay.put({**nodes, **gone}, bases)
    return moved


def _below(overlay: Overlay, source: Place, target: Place, before: SeenState) -> Iterator[Moved]:
    _must_be_known(source, before.thing.kind)
    yield source, target, before
    if before.thing.kind != "folder":
        return
    with told(source.path):
        for found in scan(source, ignore=None, tree=overlay):
            place = found.place
            if found.closed:
                raise WorkspaceError(f"{place.path!r} cannot be looked into: it is not moved")
            _must_be_known(place, kind_of(found.status.st_mode))
            new = replace(target, parts=target.parts + place.parts[len(source.parts) :])
            yield place, new, overlay.look(place)


def _must_be_known(place: Place, kind: Kind) -> None:
    if kind == "other":
        raise WorkspaceError(
            f"{place.path!r} is not a regular file: pipes and devices are not moved or deleted"
        )


def _folders(overlay: Overlay, place: Place) -> dict[Place, OverlayNode]:
    """Return the folders on the way that are to be made."""
    made: dict[Place, OverlayNode] = {}
    for count in range(len(place.parts) - 1, 0, -1):
        above = Place(place.root, place.parts[:count], place.writable)
        found = overlay.status(above)
        kind = "missing" if found is None else kind_of(found.st_mode)
        if kind == "folder":
            break
        if kind != "missing":
            raise not_a_folder(place.path)
        made[above] = OverlayNode(FileState("folder"))
    return dict(reversed(made.items()))
