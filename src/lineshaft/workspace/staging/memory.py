"""The memory of a staged view, and the same as bytes for a process that goes on with it.

Above: the staged view. Below: the overlay, the ledgers, `staging/pack.py`. Contents on the disk are
    not packed: they are known by their hash, and checked again before they land.
"""

from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import cast

from msgspec import field
from msgspec.structs import replace

from lineshaft.values import Change, Struct, as_dict, decode
from lineshaft.workspace._ledger import Ledger, Seen
from lineshaft.workspace.staging.ledgers import TouchedFacts, ledger_facts, ledger_from
from lineshaft.workspace.staging.overlay import Base, Overlay
from lineshaft.workspace.staging.pack import (
    Json,
    Packing,
    Roots,
    base_facts,
    base_from,
    folder_facts,
    folder_from,
    overlay_facts,
    overlay_from,
    unpacked,
)

ReadContent = Callable[[int], bytes]


class Memory(Struct):
    """The changes to land, the landed ones, the versions seen."""

    through: Ledger = field(default_factory=Ledger)
    """Direct changes: by commands, and in `@state`."""

    staged: Ledger = field(default_factory=Ledger)
    """The changes to land."""

    overlay: Overlay = field(default_factory=Overlay)
    sights: dict[str, Base] = field(default_factory=dict[str, Base])
    """Files that were read since the last landing, by real path."""

    done: list[Change] = field(default_factory=list[Change])
    """The changes that have landed."""

    stages: int = 0
    """How many times changes have landed; counted by the lowest memory alone."""

    version: int = 0
    """Grows with each change."""

    layers: "dict[str, Memory]" = field(default_factory=dict[str, "Memory"])
    """What is laid over it, by name."""

    abandoned: list[Change] = field(default_factory=list[Change])
    """Changes of layers that were dropped; kept by the lowest memory alone."""

    def __post_init__(self) -> None:
        self.staged.seen = self.through.seen

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        own = self.done or self.staged.touched or self.through.touched or self.overlay.nodes
        return bool(own) or any(layer.touched for layer in self.layers.values())

    def layer(self, name: str) -> "Memory":
        """Return the memory that is laid over this one under a name; a new one where none is."""
        if name not in self.layers:
            self.layers[name] = Memory(overlay=Overlay(self.overlay))
        return self.layers[name]

    def changes(self, stage: int) -> tuple[Change, ...]:
        """Return all changes, landed or not, those of what is laid over it too.

        Args:
            stage: Number of the next stage.
        """
        over = [change for layer in self.layers.values() for change in layer.changes(stage)]
        return (*self.done, *self.through.changes(), *self.waiting(stage), *over)

    def waiting(self, stage: int) -> tuple[Change, ...]:
        """Return the changes to land, with the number of their stage."""
        made = (
            base.place.path
            for base, node in self.overlay.changed()
            if node.thing.kind == "folder" and base.sight.thing.kind == "missing"
        )
        return tuple(replace(change, stage=stage) for change in self.staged.changes(made))

    def unmerged(self, stage: int) -> Iterator[Change]:
        """Yield the changes to land, those of what is laid over it too."""
        yield from self.waiting(stage)
        for layer in self.layers.values():
            yield from layer.unmerged(stage)

    def clear(self) -> None:
        """Note that all of its changes are below now."""
        self.overlay.clear()
        self.staged = Ledger(self.through.seen)
        self.sights.clear()
        self.version += 1

    def seen_paths(self) -> Iterator[str]:
        """Yield the paths that were seen or changed, those that layers have read too."""
        yield from self.through.seen.tokens
        yield from (base.place.path for base in self.sights.values())

    def settle(self) -> None:
        """Forget changes that came to nothing: what a process puts there must be seen."""
        self.overlay.clear()
        self.staged = Ledger(self.through.seen)

    def take_back(self, paths: Collection[str]) -> None:
        """Forget the changes of some paths that have not landed.

        Raises:
            WorkspaceError: They cannot be told from others that stay.
        """
        places = {base.place.path: base.place for base in self.overlay.bases.values()}
        for path in paths:
            place = places.get(path)
            if place is not None and place.real in self.overlay.nodes:
                self.overlay.take_back(place)
            self.staged.take_back(path)
        self.version += 1

    def drop(self) -> None:
        """Forget the changes that have not landed."""
        self.overlay.clear()
        self.staged.drop()
        self.sights.clear()
        self.layers.clear()
        self.version += 1

    def forget_sights(self, places: Collection[str]) -> None:
        """Forget that files were read which the run itself has changed since, by real path."""
        for real in self.sights.keys() & places:
            del self.sights[real]
        for layer in self.layers.values():
            layer.forget_sights(places)

    def copy(self) -> "Memory":
        """Return the same without what is laid over it, to be used apart."""
        seen = self.through.seen.copy()
        return Memory(
            self.through.copy(seen),
            self.staged.copy(seen),
            self.overlay.copy(),
            dict(self.sights),
            list(self.done),
            self.stages,
        )

    def pack(self, folder: Path | None) -> bytes:
        """Return it as bytes.

        Args:
            folder: The run's private folder, where there is one; its contents are included.

        Raises:
            TooLarge: It is too large to keep.
        """
        packing = Packing()
        facts = self.facts(packing)
        facts["folder"] = [] if folder is None else folder_facts(folder, packing)
        return packing.packed(facts)

    def facts(self, packing: Packing) -> dict[str, object]:
        """Return it as JSON-like data, with what is laid over it."""
        seen = self.through.seen
        return {
            "seen": {"tokens": seen.tokens, "reported": sorted(seen.reported)},
            "through": ledger_facts(self.through, packing),
            "staged": ledger_facts(self.staged, packing),
            "overlay": overlay_facts(self.overlay, packing),
            "sights": [base_facts(base) for base in self.sights.values()],
            "done": [as_dict(change) for change in self.done],
            "stages": self.stages,
            "version": self.version,
            "layers": {name: layer.facts(packing) for name, layer in self.layers.items()},
            "abandoned": [as_dict(change) for change in self.abandoned],
        }

    @classmethod
    def unpack(cls, packed: bytes, *, roots: Roots, folder: Callable[[], Path]) -> "Memory":
        """Return it again.

        Args:
            packed: As `pack` gave it.
            roots: The mounts by alias.
            folder: Makes the run's private folder; called where it held anything.

        Raises:
            StateError: It is none, of another version, or of another folder.
        """
        facts, content = unpacked(packed)
        kept = facts.pop("folder", None)
        del facts["format"], facts["sizes"]
        memory = cls._of(facts, content, roots, None)
        if kept:
            folder_from(cast("list[Json]", kept), content, folder())
        return memory

    @classmethod
    def _of(
        cls, facts: object, content: ReadContent, roots: Roots, below: Overlay | None
    ) -> "Memory":
        told = decode(_MemoryFacts, facts)
        seen = Seen(told.seen.tokens, set(told.seen.reported))
        sights = [base_from(fact, roots) for fact in told.sights]
        overlay = overlay_from(told.overlay, content, roots, below)
        return cls(
            ledger_from(told.through, content, seen),
            ledger_from(told.staged, content, seen),
            overlay,
            {base.place.real: base for base in sights},
            told.done,
            told.stages,
            told.version,
            layers={
                name: cls._of(layer, content, roots, overlay) for name, layer in told.layers.items()
            },
            abandoned=told.abandoned,
        )


class _SeenFacts(Struct, frozen=True):
    """The contents seen, as a pack has them."""

    tokens: dict[str, str]
    reported: list[str]


class _MemoryFacts(Struct, frozen=True):
    """All of it, as a pack has it."""

    seen: _SeenFacts
    through: dict[str, TouchedFacts]
    staged: dict[str, TouchedFacts]
    overlay: object
    sights: list[object]
    done: list[Change]
    stages: int
    version: int
    layers: dict[str, object]
    abandoned: list[Change] = field(default_factory=list[Change])
