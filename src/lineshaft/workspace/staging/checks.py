"""What a staged view asks of a place before it acts: whose it is, and whether a thread is needed.

A hop to a thread costs more than to note a small content, or to look one up. Whatever is large, or
no plain file, is done in a thread, where it keeps nobody waiting.
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
    """Return what a run reads of a file that was seen with its content."""
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
    """See a file that the run was told is stale as it is: what was to be written there goes."""
    node = memory.overlay.nodes.get(place.real)
    if node is not None and node.came is None and memory.staged.forget(place.path):
        memory.overlay.forget(place)
        memory.overlay.meet(place)


def must_not_be_stale(memory: Memory, mounts: Mounts) -> None:
    """Refuse to land over files that the run was told of and has not read again.

    One that is as it was is not stale any more.

    Raises:
        StaleFile: It names them.
    """
    seen = memory.through.seen
    stale: list[str] = []
    for path in sorted(seen.reported):
        place = mounts.place(Decided(path))
        base = memory.overlay.bases.get(place.real) or memory.sights.get(place.real)
        if base is None:
            continue
        if still(base.place, base.sight):
            seen.reported.discard(place.path)
        else:
            stale.append(place.path)
    if stale:
        raise stale_files(stale)
