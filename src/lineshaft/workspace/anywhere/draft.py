"""The changes of a view over any workspace: what is to be at a path, and what was there before.

Pure: it takes notes by canonical path and never asks the workspace. The ledger of the changes and
the packing are those of a stage on the disk.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

from msgspec import field
from msgspec.structs import replace

from lineshaft.values import Change, Entry, Struct, as_dict, decode
from lineshaft.workspace._contents import Contents, Held, bytes_of
from lineshaft.workspace._ledger import Ledger, Seen
from lineshaft.workspace.disk import NOTHING, FileState
from lineshaft.workspace.staging import Json, Packing, TouchedFacts, ledger_facts, ledger_from


class Drafted(Struct, frozen=True):
    """The state that a path is to have."""

    thing: FileState
    held: Held | None = None
    """A file's content."""

    came: str | None = None
    """The path from which the file was moved here."""


GONE = Drafted(NOTHING)


class Draft(Struct):
    """The changes of one view, and the contents that they build on."""

    nodes: dict[str, Drafted] = field(default_factory=dict[str, Drafted])
    bases: dict[str, FileState] = field(default_factory=dict[str, FileState])
    """The first state seen below, of each path that is to change."""

    sights: dict[str, FileState] = field(default_factory=dict[str, FileState])
    """Files that were read since the last landing."""

    staged: Ledger = field(default_factory=Ledger)
    contents: Contents = field(default_factory=Contents)
    done: list[Change] = field(default_factory=list[Change])
    """Changes that have landed; kept by the lowest draft alone, as `stages` is."""

    stages: int = 0
    version: int = 0
    """Grows with each change."""

    layers: "dict[str, Draft]" = field(default_factory=dict[str, "Draft"])
    abandoned: list[Change] = field(default_factory=list[Change])

    def own(self, path: str) -> Drafted | None:
        """Return the state of a path here; None: what is below holds."""
        node = self.nodes.get(path)
        for above in above_of(path) if node is None else ():
            over = self.nodes.get(above)
            if over is not None:
                kept = over.thing.kind == "folder" and self.bases[above].kind == "folder"
                return None if kept else GONE
        return node

    def put(self, path: str, node: Drafted, below: FileState) -> None:
        """Take the state that a path is to have.

        Args:
            path: The path.
            node: The state.
            below: What is there in the tree below, where no state was taken before.
        """
        self.bases.setdefault(path, below)
        old = self.nodes.get(path)
        if old is not None:
            self.contents.drop(old.held)
        self.nodes[path] = node
        self.version += 1

    def changed(self) -> Iterator[tuple[str, FileState, Drafted]]:
        """Yield the paths that will change, the first state of each, and the new one."""
        for path, node in self.nodes.items():
            base = self.bases[path]
            if not node.thing.same(base):
                yield path, base, node

    def waiting(self, stage: int) -> tuple[Change, ...]:
        """Return the changes to land, with the number of their stage."""
        made = (
            path
            for path, base, node in self.changed()
            if node.thing.kind == "folder" and base.kind == "missing"
        )
        return tuple(replace(change, stage=stage) for change in self.staged.changes(made))

    def all_waiting(self, stage: int) -> Iterator[Change]:
        """Yield the changes to land, those of layers too."""
        yield from self.waiting(stage)
        for layer in self.layers.values():
            yield from layer.all_waiting(stage)

    @property
    def touched(self) -> bool:
        """Whether anything was changed."""
        own = self.done or self.staged.touched or self.nodes or self.version
        return bool(own) or any(layer.touched for layer in self.layers.values())

    def absorb(self, layer: "Draft", made: Collection[str] = ()) -> None:
        """Take over the changes of a layer, of which nothing contradicts what is here.

        Args:
            layer: The layer.
            made: Paths whose change has been made here by now.
        """
        for path, _, node in layer.changed():
            if path in made:
                continue
            held = None if node.held is None else self.contents.put(bytes_of(node.held))
            self.put(path, replace(node, held=held), layer.bases[path])
        self.staged.absorb(layer.staged, without=made)
        for path, thing in layer.sights.items():
            self.sights.setdefault(path, thing)

    def clear(self) -> None:
        """Note that all of its changes are below now, or dropped."""
        self.nodes, self.bases, self.sights = {}, {}, {}
        self.contents = Contents()
        self.staged = Ledger(self.staged.seen)
        self.version += 1

    def drop(self) -> None:
        """Forget the changes, and the versions that were seen of their files."""
        self.staged.drop()
        self.layers.clear()
        self.clear()

    def forget(self, path: str) -> None:
        """Take a stale file, which the run was told of, as it is now: its staged content goes."""
        node = self.nodes.get(path)
        if node is not None and node.came is None and self.staged.forget(path):
            self.contents.drop(node.held)
            del self.nodes[path], self.bases[path]
        self.sights.pop(path, None)

    def forget_sights(self, paths: Collection[str]) -> None:
        """Forget that files were read which the run itself has changed since, in layers too."""
        for path in self.sights.keys() & paths:
            del self.sights[path]
        for layer in self.layers.values():
            layer.forget_sights(paths)

    def copy(self) -> "Draft":
        """Return the same without its layers, to be changed apart."""
        return replace(
            self,
            nodes=dict(self.nodes),
            bases=dict(self.bases),
            sights=dict(self.sights),
            staged=self.staged.copy(self.staged.seen.copy()),
            contents=self.contents.copy(),
            done=list(self.done),
            layers={},
        )

    def facts(self, packing: Packing) -> dict[str, object]:
        """Return it as JSON-like data, with its layers."""
        seen = self.staged.seen
        return {
            "seen": {"tokens": seen.tokens, "reported": sorted(seen.reported)},
            "staged": ledger_facts(self.staged, packing),
            "nodes": {path: self._node_facts(path, packing) for path in self.nodes},
            "sights": {path: as_dict(thing) for path, thing in self.sights.items()},
            "done": [as_dict(change) for change in self.done],
            "stages": self.stages,
            "version": self.version,
            "layers": {name: layer.facts(packing) for name, layer in self.layers.items()},
            "abandoned": [as_dict(change) for change in self.abandoned],
        }

    def _node_facts(self, path: str, packing: Packing) -> Json:
        node = self.nodes[path]
        held = None if node.held is None else packing.put(bytes_of(node.held))
        return {
            "thing": as_dict(node.thing),
            "held": held,
            "came": node.came,
            "base": as_dict(self.bases[path]),
        }

    @classmethod
    def of(cls, facts: object, content: Callable[[int], bytes]) -> "Draft":
        """Return it again.

        Args:
            facts: As `facts` gave them.
            content: Gives a content by its number.
        """
        told = decode(_DraftFacts, facts)
        draft = cls(
            sights=told.sights,
            staged=ledger_from(
                told.staged, content, Seen(told.seen.tokens, set(told.seen.reported))
            ),
            done=told.done,
            stages=told.stages,
            layers={name: cls.of(layer, content) for name, layer in told.layers.items()},
            abandoned=told.abandoned,
        )
        for path, node in told.nodes.items():
            held = None if node.held is None else draft.contents.put(content(node.held))
            draft.put(path, Drafted(node.thing, held, node.came), node.base)
        draft.version = told.version
        return draft


def found(drafts: Sequence[Draft], path: str) -> Drafted | None:
    """Return the state of a path in drafts that lie over each other, the lowest first."""
    states = (draft.own(path) for draft in reversed(drafts))
    return next((state for state in states if state is not None), None)


def above_of(path: str) -> Iterator[str]:
    """Yield the folders that a path lies in, the nearest first, without its mount."""
    while True:
        path = path.rpartition("/")[0]
        if path in ("", ".") or (path.startswith("@") and "/" not in path):
            return
        yield path


def parts_of(path: str) -> tuple[str, ...]:
    """Return the parts of a canonical path within its mount."""
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    return parts[1:] if path.startswith("@") else parts


def entry(path: str, thing: FileState) -> Entry:
    """Return what a walk says of a file or folder that is to be."""
    return Entry(
        path=path,
        kind="folder" if thing.kind == "folder" else "file",
        size=thing.size,
        hidden=any(part.startswith(".") for part in parts_of(path)),
    )


class _VersionFacts(Struct, frozen=True):
    tokens: dict[str, str]
    reported: list[str]


class _DraftedFacts(Struct, frozen=True):
    thing: FileState
    held: int | None
    came: str | None
    base: FileState


class _DraftFacts(Struct, frozen=True):
    seen: _VersionFacts
    staged: Mapping[str, TouchedFacts]
    nodes: dict[str, _DraftedFacts]
    sights: dict[str, FileState]
    done: list[Change]
    stages: int
    version: int
    layers: dict[str, object]
    abandoned: list[Change]
