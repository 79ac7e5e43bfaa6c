"""Changes laid over the disk, or over another overlay: the tree after the landing.

Above: the staged view. Below: `disk/states.py` and `disk/access.py`. Keys are real paths, so that a
    file reached through two mounts is one file. Not thread-safe for changes; a reader meanwhile
    sees each change whole.
"""

import errno
import os
import stat
from collections.abc import Iterator, Mapping

from msgspec.structs import replace

from lineshaft.errors import FileMissing, StaleFile, WorkspaceError
from lineshaft.values import Struct
from lineshaft.workspace import disk
from lineshaft.workspace._contents import Contents, Held, bytes_of
from lineshaft.workspace.disk import (
    DISK,
    NOTHING,
    FileState,
    Place,
    SeenState,
    missing,
    must_be_file,
    not_a_folder,
    read_whole,
    see,
    still,
)

_TYPES = {"file": stat.S_IFREG, "folder": stat.S_IFDIR, "symlink": stat.S_IFLNK}
_MODES = {"file": 0o644, "folder": 0o755, "symlink": 0o777}


class OverlayNode(Struct, frozen=True):
    """The staged state of a path."""

    thing: FileState
    held: Held | None = None
    """A file's content; None: it is that of the file on the disk at `came`."""

    came: Place | None = None
    """The present place of the same file on the disk, unless its content is new."""


class Base(Struct, frozen=True):
    """The first state seen, in the tree below, at a path that is to change."""

    place: Place
    sight: SeenState


GONE = OverlayNode(NOTHING)


class Overlay:
    """The changes of one view that have not landed.

    Args:
        below: The overlay under it; None: it lies on the disk.
        contents: Holds the contents of files.
    """

    def __init__(self, below: "Overlay | None" = None, contents: Contents | None = None) -> None:
        self.below = below
        self.contents = contents or Contents()
        self.nodes: dict[str, OverlayNode] = {}
        self.bases: dict[str, Base] = {}
        self._names: dict[str, set[str]] = {}

    def copy(self) -> "Overlay":
        """Return the same, to be changed apart."""
        other = Overlay(self.below, self.contents.copy())
        other.nodes, other.bases = dict(self.nodes), dict(self.bases)
        other._names = {folder: set(names) for folder, names in self._names.items()}
        return other

    # Looking.

    def find(self, real: str) -> OverlayNode | None:
        """Return the staged state of a real path; None: the state on the disk holds."""
        node = self.own(real)
        return self.below.find(real) if node is None and self.below is not None else node

    def own(self, real: str) -> OverlayNode | None:
        """Return the state of a real path in this overlay; None: the state below holds."""
        if not self.nodes:
            return None
        node = self.nodes.get(real)
        above = real
        while node is None:
            below, above = above, _above(above)
            if above == below:
                return None
            over = self.nodes.get(above)
            if over is not None:
                return GONE if over.thing.kind != "folder" or self._is_new(above) else None
        return node

    def _is_new(self, real: str) -> bool:
        return self.bases[real].sight.thing.kind != "folder"

    def link(self, real: str) -> str | None:
        """Return the target of the symlink at a real path, or None where there is none."""
        node = self.find(real)
        return disk.read_link(real) if node is None else node.thing.target

    def status(self, place: Place) -> os.stat_result | None:
        """Return the status of a place itself, or None where no file is."""
        node = self.find(place.real)
        return disk.status(place) if node is None else _status(node.thing)

    def entries(self, place: Place) -> Iterator[tuple[str, os.stat_result]]:
        """Return the names in a folder with the status of each, unsorted."""
        real = place.real
        node = self.own(real)
        if node is not None and node.thing.kind != "folder":
            number = errno.ENOENT if node is GONE else errno.ENOTDIR
            raise OSError(number, os.strerror(number))
        changed = self._names.get(real, set[str]())
        if node is None or not self._is_new(real):
            for name, status in self.entries_below(place):
                if name not in changed:
                    yield name, status
        for name in tuple(changed):
            found = _status(self.nodes[os.path.join(real, name)].thing)  # noqa: PTH118  slow
            if found is not None:
                yield name, found

    def read(self, place: Place) -> bytes:
        """Return a file's content."""
        node = self.find(place.real)
        if node is None:
            return disk.read(place)
        if node.thing.kind == "missing":
            raise self._absent(place)
        must_be_file(place.path, node.thing.kind)
        return self.content(node)

    def _absent(self, place: Place) -> WorkspaceError:
        for count in range(len(place.parts) - 1, 0, -1):
            found = self.status(Place(place.root, place.parts[:count], place.writable))
            if found is not None:
                if not stat.S_ISDIR(found.st_mode):
                    return not_a_folder(place.path)
                break
        return missing(place.path)

    def content(self, node: OverlayNode) -> bytes:
        """Return the content of a file that is to be."""
        if node.held is not None:
            return bytes_of(node.held)
        if node.came is None:
            raise WorkspaceError("a file of the stage has lost its content")
        try:
            found = read_whole(node.came)
        except FileMissing:
            raise _gone(node.came.path, "deleted") from None
        if found.thing.sha256 != node.thing.sha256:
            raise _gone(node.came.path, "changed")
        return found.data or b""

    def look(self, place: Place) -> SeenState:
        """Return the state of a place in the stage; with its content, unless that is large."""
        node = self.own(place.real)
        if node is None:
            return self.look_below(place)
        small = node.thing.kind == "file" and node.thing.size <= disk.KEPT_BYTES
        return SeenState(node.thing, None, 0, self.content(node) if small else None)

    def look_below(self, place: Place) -> SeenState:
        """Return the state below of a place, not through a folder that is to be replaced."""
        above = place.real
        while self.bases:
            below, above = above, _above(above)
            if above == below:
                break
            base = self.bases.get(above)
            if base is not None:
                if base.sight.thing.kind != "folder":
                    return SeenState(NOTHING, None, 0)
                break
        return self.under(place)

    def under(self, place: Place) -> SeenState:
        """Return the state of a place in the tree below, whatever is laid over it."""
        return see(place) if self.below is None else self.below.look(place)

    def entries_below(self, place: Place) -> Iterator[tuple[str, os.stat_result]]:
        """Return the names in a folder of the tree below, as `entries` does."""
        return (self.below or DISK).entries(place)

    def read_below(self, place: Place) -> SeenState:
        """Return a file of the tree below, with its content.

        Raises:
            WorkspaceError: There is none, or it may not be read.
        """
        node = None if self.below is None else self.below.find(place.real)
        if self.below is None or node is None:
            return read_whole(place)
        return SeenState(node.thing, None, 0, self.below.read(place))

    def first(self, place: Place) -> SeenState:
        """Return the state below of a place, with any staged state."""
        base = self.bases.get(place.real)
        return self.look_below(place) if base is None else base.sight

    def was(self, place: Place) -> FileState:
        """Return the state below of a place that is to change."""
        return self.bases[place.real].sight.thing

    def will_be(self, place: Place) -> FileState:
        """Return the staged state of a place that is to change."""
        return self.nodes[place.real].thing

    def still(self, place: Place) -> bool:
        """Whether a place that is to change is below still in its first state."""
        base = self.bases.get(place.real)
        if base is None:
            return True
        sight, below = base.sight, self.below
        if below is not None:
            # What was staged there may have landed since.
            marked = sight.mark is not None or sight.thing.kind == "missing"
            if not marked or below.find(place.real) is not None:
                return below.look(base.place).thing.same(sight.thing)
        return still(base.place, sight)

    # Changing.

    def put(
        self, changes: Mapping[Place, OverlayNode], bases: Mapping[Place, SeenState] | None = None
    ) -> None:
        """Take changes; all of them are seen, or none.

        Args:
            changes: The staged state of each place.
            bases: States below of some of them, as far as they are known.
        """
        found = bases or {}
        for place in changes:
            real = place.real
            if real not in self.bases:
                sight = found.get(place) or self.look_below(place)
                self.bases[real] = Base(place, sight.without_data())
            self._names.setdefault(_above(real), set())
        added = {place.real: node for place, node in changes.items()}
        stays = {id(node.held) for node in added.values()}
        for real in added:
            old = self.nodes.get(real)
            if old is not None and id(old.held) not in stays:
                self.contents.drop(old.held)
        self.nodes.update(added)
        for real in added:
            self._names[_above(real)].add(os.path.basename(real))  # noqa: PTH119  slow

    def forget(self, place: Place) -> None:
        """Drop the staged state of a place."""
        real = place.real
        self.contents.drop(self.nodes.pop(real).held)
        del self.bases[real]
        self._names[_above(real)].discard(os.path.basename(real))  # noqa: PTH119  slow

    def take_back(self, place: Place) -> None:
        """Drop the staged state of a place, as if it had never been changed.

        New folders that were made for it alone go, folders that it lay in stay.

        Raises:
            WorkspaceError: Another change puts a file in place of a folder that it lay in.
        """
        self.forget(place)
        for count in range(len(place.parts) - 1, 0, -1):
            above = Place(place.root, place.parts[:count], place.writable)
            node = self.nodes.get(above.real)
            if node is None:
                continue
            new = self._is_new(above.real)
            if node.thing.kind == "folder":
                if new and not self._names.get(above.real):
                    self.forget(above)
            elif not new and node.thing.kind == "missing":
                self.forget(above)
            elif not new:
                raise WorkspaceError(
                    f"the change of {place.path!r} cannot be dropped while that of"
                    f" {above.path!r} is kept, which takes its folder's place; nothing landed"
                )

    def clear(self) -> None:
        """Drop all changes; overlays over this one see what is below it."""
        self.contents = Contents()
        self.nodes, self.bases, self._names = {}, {}, {}

    def meet(self, place: Place) -> None:
        """Take folders on the way as they are where they were to be made but exist by now."""
        for count in range(len(place.parts) - 1, 0, -1):
            above = Place(place.root, place.parts[:count], place.writable)
            node = self.nodes.get(above.real)
            if node is not None and node.thing.kind == "folder" and self._is_new(above.real):
                sight = self.under(above)
                if sight.thing.kind == "folder":
                    self.bases[above.real] = Base(above, sight)

    def taken(self, node: OverlayNode) -> OverlayNode:
        """Return a state of another overlay, its content held by this one, too."""
        if isinstance(node.held, bytes):
            return replace(node, held=self.contents.put(node.held))
        return node

    def changed(self) -> Iterator[tuple[Base, OverlayNode]]:
        """Return the places that will change."""
        for real, node in self.nodes.items():
            base = self.bases[real]
            if not node.thing.same(base.sight.thing):
                yield base, node


def _gone(path: str, happened: str) -> StaleFile:
    return StaleFile(
        f"{path!r} was {happened} from outside since this run moved it",
        hint="Its content is gone: run the script anew.",
        paths=(path,),
    )


def _above(real: str) -> str:
    return os.path.dirname(real)  # noqa: PTH120  pathlib is ten times slower


def _status(thing: FileState) -> os.stat_result | None:
    if thing.kind == "missing":
        return None
    mode = _MODES[thing.kind] if thing.mode is None else thing.mode
    return os.stat_result((_TYPES[thing.kind] | mode, 0, 0, 1, 0, 0, thing.size, 0, 0, 0))
