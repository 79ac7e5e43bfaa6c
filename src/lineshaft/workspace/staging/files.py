"""The files of a stage as values that leave this room.

Above: the staged view. Below: the overlay. A content is read only when it is asked for, piece by
    piece, so that a large one is never whole in memory for it.
"""

import hashlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import cast

from lineshaft.errors import FileMissing, StaleFile
from lineshaft.values import StagedFile, StagedKind
from lineshaft.workspace import _contents as contents
from lineshaft.workspace import disk
from lineshaft.workspace.disk import Place
from lineshaft.workspace.staging.overlay import Base, OverlayNode


def staged_file(base: Base, node: OverlayNode) -> StagedFile:
    """Return the state that a place is to have.

    Args:
        base: The place, and its state on the disk.
        node: The staged state.
    """
    place, thing = base.place, node.thing
    return StagedFile(
        path=place.path,
        real=place.real,
        kind=cast("StagedKind", thing.kind),  # pipes and devices are never staged
        sha256=thing.sha256,
        size=thing.size,
        mode=thing.mode,
        target=thing.target,
        came_from=node.came.real if node.held is None and node.came is not None else None,
        parts=partial(_parts, node),
        was=cast("StagedKind", base.sight.thing.kind),
        before=partial(_before, base),
    )


def _before(base: Base) -> bytes | None:
    """Return the content of the file that is on the disk, and check it."""
    was = base.sight.thing
    if was.kind != "file":
        return None
    data = disk.read(base.place)
    if was.sha256 is not None and hashlib.sha256(data).hexdigest() != was.sha256:
        raise _stale(base.place, "since this run first saw it")
    return data


def shown_file(place: Place, data: bytes) -> StagedFile:
    """Return the state of a file that an editor shows and has not saved."""
    return StagedFile(
        path=place.path,
        real=place.real,
        kind="file",
        sha256=hashlib.sha256(data).hexdigest(),
        size=len(data),
        parts=lambda: iter((data,)),
    )


def _parts(node: OverlayNode) -> Iterator[bytes]:
    if node.held is not None:
        yield from contents.parts_of(node.held)
    elif node.came is not None:
        yield from _moved(node.came, node.thing.sha256)


def _moved(came: Place, sha256: str | None) -> Iterator[bytes]:
    """Yield the content of a file that only its place changed of, and check it."""
    digest = hashlib.sha256()
    with suppress(FileMissing):
        for part in disk.parts_of(came):
            digest.update(part)
            yield part
    if digest.hexdigest() != sha256:
        raise _stale(came, "since this run moved it")


def _stale(place: Place, since: str) -> StaleFile:
    return StaleFile(
        f"{place.path!r} was changed from outside {since}",
        hint="Read it again, then decide.",
        paths=(place.path,),
    )
