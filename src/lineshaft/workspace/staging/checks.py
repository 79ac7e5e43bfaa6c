"""Checks of a place before a staged view acts: its owner, and the need for a thread.

A hop to a thread costs more than to note a small content, or to look one up. Large contents, and
places that are no plain file, are handled in a thread.
"""

import stat

from lineshaft.values import Content
from lineshaft.workspace import disk
from lineshaft.workspace.disk import Decided, Mounts, Place, SeenState, still
from lineshaft.workspace.staging.landing import stale_files
from lineshaft.workspace.staging.memory import Memory
from lineshaft.workspace.staging.overlay import Overlay

STATE = "state"

_SMALL = 64_000
"""Bytes, which are hashed in some 50 microseconds."""


def is_private(place: Place) -> bool:
    """Whether a place is in the run's own folder, where everything is written through."""
    return place.root.alias == STATE


def content_of(sight: SeenState) -> Content:
    """Return a run's content of a file that was seen with it."""
    return Content(data=sight.data or b"", sha256=sight.thing.sha256 or "")


def is_held(overlay: Overlay, place: Place) -> bool:
    """Whether a file of the stage is small and in memory."""
    node = overlay.find(place.real)
    return node is not None and isinstance(node.held, bytes) and len(node.held) <= _SMALL


def is_small(overlay: Overlay, place: Place, data: bytes) -> bool:
    """Whether a content is small, and so is what it replaces, in the stage and on the disk."""
    if len(data) > _SMALL:
        return False
    status = disk.status(place)
    if status is not None and (status.st_size > _SMALL or not stat.S_ISREG(status.st_mode)):
        return False
    node = overlay.find(place.real)
    return node is None or node.thing.kind == "missing" or is_held(overlay, place)


def look_again(memory: Memory, place: Place) -> None:
    """Take a stale file that the run was told of as it is now: its staged content is dropped."""
    node = memory.overlay.nodes.get(place.real)
    if node is not None and node.came is None and memory.staged.forget(place.path):
        memory.overlay.forget(place)
        memory.overlay.meet(place)


def must_not_be_stale(memory: Memory, mounts: Mounts) -> None:
    """Refuse to land over files that the run was told of and has not read again.

    A file that is back in its old state is no longer stale.

    Raises:
        StaleFile: It names them.
    """
    seen = memory.through.seen
    stale: list[str] = []
    for path in sorted(seen.reported):
        place = mounts.place(Decided(path))
        read = memory.sights.get(place.real)
        if place.real in memory.overlay.bases:
            holds = memory.overlay.still(place)
        elif read is not None:
            holds = still(read.place, read.sight)
        else:
            continue
        if holds:
            seen.reported.discard(place.path)
        else:
            stale.append(place.path)
    if stale:
        raise stale_files(stale)
