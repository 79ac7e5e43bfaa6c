"""Merge of a layer: its changes become those of the tree below, unless they contradict it.

Above: the staged view. Below: the memories of both. Only what is to change is checked: a file that
    a layer has read is looked at when the changes land.
"""

from collections.abc import Iterator, Sequence

from lineshaft.errors import StaleFile
from lineshaft.values import first_few
from lineshaft.workspace.disk import Place
from lineshaft.workspace.staging.memory import Memory
from lineshaft.workspace.staging.overlay import Base, Overlay, OverlayNode

_TOLD = 20


def merge(layer: Memory, into: Memory) -> None:
    """Take over the changes of a layer; `stale` was asked before.

    Args:
        layer: It stays as it is.
        into: What it is laid over, or a copy of that.
    """
    nodes = list(_to_merge(layer.overlay))
    merged = {base.place.real for base, _ in nodes}
    there = {b.place.path for b, _ in layer.overlay.changed() if b.place.real not in merged}
    into.overlay.put(
        {base.place: into.overlay.taken(node) for base, node in nodes},
        {base.place: base.sight for base, _ in nodes},
    )
    into.staged.absorb(layer.staged, without=there)
    into.through.absorb(layer.through)
    for real, base in layer.sights.items():
        into.sights.setdefault(real, base)
    into.version += 1


def flattened(memories: Sequence[Memory]) -> Memory:
    """Return the changes of memories that are laid over each other, the lowest first, as one."""
    if len(memories) == 1:
        return memories[0]
    flat = memories[0].copy()
    for memory in memories[1:]:
        merge(memory, flat)
    return flat


def stale(layer: Memory) -> list[str]:
    """Return the paths that a layer changes and that were changed below since it saw them."""
    overlay = layer.overlay
    found = [
        path for base, node in _to_merge(overlay) for path in _contradicting(overlay, base, node)
    ]
    return list(dict.fromkeys(found))


def stale_below(paths: Sequence[str]) -> StaleFile:
    """Return the error that names files which others of the same run have changed."""
    named = first_few(paths, _TOLD, quoted=True)
    return StaleFile(
        f"changed meanwhile, by another part of this run or from outside: {named}",
        hint="Read them again, then decide.",
        paths=tuple(paths),
    )


def _to_merge(overlay: Overlay) -> Iterator[tuple[Base, OverlayNode]]:
    """Yield the changes, without those that were made below by now."""
    for base, node in overlay.changed():
        if overlay.still(base.place) or not overlay.under(base.place).thing.same(node.thing):
            yield base, node


def _contradicting(overlay: Overlay, base: Base, node: OverlayNode) -> Iterator[str]:
    place = base.place
    if not overlay.still(place):
        yield place.path
    elif base.sight.thing.kind == "folder" and node.thing.kind != "folder":
        for name, _ in overlay.entries_below(place):
            inner = Place(place.root, (*place.parts, name), place.writable)
            if inner.real not in overlay.nodes:
                yield inner.path
    elif node.thing.kind != "missing" and len(place.parts) > 1:
        above = Place(place.root, place.parts[:-1], place.writable)
        if overlay.look(above).thing.kind != "folder":
            yield place.path
