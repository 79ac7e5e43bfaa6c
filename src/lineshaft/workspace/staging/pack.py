"""A view as bytes, for another process that goes on with it.

Below: the overlay and the ledgers. Contents on the disk are not packed: they are known by their
    hash, and checked again before they land. Reading a pack executes nothing; the store signs it.
"""

import json
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import cast

from lineshaft.errors import StateError, TooLarge
from lineshaft.values import Struct, as_dict, decode
from lineshaft.workspace._contents import bytes_of
from lineshaft.workspace.disk import FileState, Mark, Place, Root, SeenState
from lineshaft.workspace.journal import thing_facts
from lineshaft.workspace.staging.overlay import Base, Overlay, OverlayNode

FORMAT = 2
MOST_BYTES = 256_000_000
"""Of all contents of a view that is to be kept."""

_MAGIC = b"lineshaft view\n"

Json = Mapping[str, object]
Roots = Mapping[str, Root]


class _PackedPlace(Struct, frozen=True):
    """A place, as a pack has it."""

    alias: str
    real: str
    parts: tuple[str, ...]


class _BaseFacts(Struct, frozen=True):
    """The state on the disk, as a pack has it."""

    place: _PackedPlace
    thing: FileState
    mark: Mark | None
    at_ns: int


class _NodeFacts(Struct, frozen=True):
    """The state that a place is to have, as a pack has it."""

    base: object
    thing: FileState
    held: int | None
    came: _PackedPlace | None


class _OverlayFacts(Struct, frozen=True):
    """An overlay, as a pack has it."""

    nodes: tuple[_NodeFacts, ...]


class Packing:
    """Contents on their way into a pack, each once."""

    def __init__(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._size = 0

    def put(self, data: bytes) -> int:
        """Take a content, and return its number.

        Raises:
            TooLarge: All together are too large to keep.
        """
        if data not in self._numbers:
            self._size += len(data)
            if self._size > MOST_BYTES:
                raise TooLarge(
                    f"this run cannot be kept: its staged changes are over {MOST_BYTES:,} bytes"
                )
            self._numbers[data] = len(self._numbers)
        return self._numbers[data]

    def packed(self, facts: Json) -> bytes:
        """Return facts and contents together."""
        sizes = [len(data) for data in self._numbers]
        head = json.dumps({"format": FORMAT, "sizes": sizes, **facts}).encode()
        return b"".join((_MAGIC, head, b"\n", *self._numbers))


def unpacked(data: bytes) -> tuple[dict[str, object], Callable[[int], bytes]]:
    """Return the facts of a pack, and a function that gives its contents by number.

    Raises:
        StateError: It is none, or one of another version.
    """
    head, _, rest = data.removeprefix(_MAGIC).partition(b"\n")
    try:
        facts = cast("dict[str, object]", json.loads(head))
        version, sizes = facts["format"], cast("list[int]", facts["sizes"])
    except (ValueError, KeyError, TypeError) as error:
        raise StateError(
            "the changes that waited cannot be read: they are no packed view"
        ) from error
    if not data.startswith(_MAGIC) or version != FORMAT or sum(sizes) != len(rest):
        raise StateError(
            f"the changes that waited cannot be read: format {version}, not {FORMAT}, or cut off",
            hint="Go on with the version of Lineshaft that paused the run.",
        )
    contents: list[bytes] = []
    offset = 0
    for size in sizes:
        contents.append(rest[offset : offset + size])
        offset += size
    return facts, contents.__getitem__


def overlay_facts(overlay: Overlay, packing: Packing) -> Json:
    """Return an overlay as JSON-like data."""
    return {
        "nodes": [
            {
                "base": base_facts(overlay.bases[real]),
                "thing": thing_facts(node.thing),
                "held": None if node.held is None else packing.put(bytes_of(node.held)),
                "came": None if node.came is None else _place_facts(node.came),
            }
            for real, node in overlay.nodes.items()
        ]
    }


def overlay_from(
    facts: object, content: Callable[[int], bytes], roots: Roots, below: Overlay | None
) -> Overlay:
    """Return the overlay again, laid over another one."""
    overlay = Overlay(below)
    for fact in decode(_OverlayFacts, facts).nodes:
        base = base_from(fact.base, roots)
        node = OverlayNode(
            fact.thing,
            None if fact.held is None else overlay.contents.put(content(fact.held)),
            None if fact.came is None else _place_from(fact.came, roots),
        )
        overlay.put({base.place: node}, {base.place: base.sight})
    return overlay


def base_facts(base: Base) -> Json:
    """Return a state of the disk as JSON-like data."""
    sight = base.sight
    return {
        "place": _place_facts(base.place),
        "thing": thing_facts(sight.thing),
        "mark": None if sight.mark is None else as_dict(sight.mark),
        "at_ns": sight.at_ns,
    }


def base_from(facts: object, roots: Roots) -> Base:
    """Return the state of the disk again."""
    told = decode(_BaseFacts, facts)
    sight = SeenState(told.thing, told.mark, told.at_ns)
    return Base(_place_from(told.place, roots), sight)


def _place_facts(place: Place) -> Json:
    return {"alias": place.root.alias, "real": place.root.real, "parts": place.parts}


def _place_from(facts: "_PackedPlace", roots: Roots) -> Place:
    root = roots.get(facts.alias)
    if root is None or root.real != facts.real or not root.writable:
        raise StateError(
            f"the changes that waited were made in another folder than '@{facts.alias}' is now",
            hint="Go on in the workspace where the run was paused, with the same mounts.",
        )
    return Place(root, facts.parts, root.writable)


def folder_facts(folder: Path, packing: Packing) -> list[Json]:
    """Return the contents of a private folder as JSON-like data, folders first."""
    found: list[Json] = []
    for above, folders, files in os.walk(folder):
        for name in sorted((*folders, *files)):
            path = Path(above, name)
            mode = path.lstat().st_mode
            fact: dict[str, object] = {
                "path": path.relative_to(folder).parts,
                "mode": stat.S_IMODE(mode),
            }
            if stat.S_ISLNK(mode):
                fact["target"] = str(path.readlink())
            elif stat.S_ISREG(mode):
                fact["data"] = packing.put(path.read_bytes())
            elif not stat.S_ISDIR(mode):
                continue
            found.append(fact)
    return found


def folder_from(facts: Iterable[Json], content: Callable[[int], bytes], folder: Path) -> None:
    """Make the contents of a private folder again."""
    for fact in facts:
        path = folder.joinpath(*cast("list[str]", fact["path"]))
        if "target" in fact:
            path.symlink_to(str(fact["target"]))
            continue
        if "data" in fact:
            path.write_bytes(content(cast("int", fact["data"])))
        else:
            path.mkdir()
        path.chmod(cast("int", fact["mode"]))
