"""Changes by processes of a run: two looks at the tree, compared by size, times and inode.

Nothing is read for the first look, so of a changed file only the content after is known.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress

import anyio
from msgspec.structs import replace

from lineshaft.errors import WorkspaceError
from lineshaft.values import Change, Exit, Line, Process, Struct
from lineshaft.workspace import disk
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace.disk import (
    MISSING,
    PROJECT,
    Ignore,
    Mark,
    Place,
    State,
    kind_of,
    look,
    scan,
)


class Marks(Struct, frozen=True):
    """A look at what a process may change."""

    root: Place
    seen: tuple[Place, ...]
    found: Mapping[Place, Mark]
    """The mark of each file and symlink that is there."""

    folders: frozenset[Place]
    """Those of the places seen where a folder is."""

    @classmethod
    def of(cls, root: Place, seen: Iterable[Place]) -> "Marks":
        """Take a look.

        Args:
            root: The tree; its ignored folders are not entered.
            seen: Files that the run has seen; those of the workspace count in ignored folders, too.
        """
        places = tuple(place for place in seen if place.root.alias == PROJECT)
        with disk.told(root.path):
            tree = {
                found.place: Mark.of(found.status)
                for found in scan(root, ignore=Ignore.at(root), files_too=False)
                if found.kind != "folder"
            }
        there = dict(_looked_at(places))
        folders = frozenset(place for place, mark in there.items() if mark is None)
        seen_files = {place: mark for place, mark in there.items() if mark is not None}
        return cls(root, places, {**seen_files, **tree}, folders)

    def again(self) -> "Marks":
        """Take the same look once more."""
        return Marks.of(self.root, self.seen)

    def other_in(self, later: "Marks") -> set[str]:
        """Return the real paths of what came, went or changed between two looks."""
        files = self.found.keys() | later.found.keys()
        other = {place for place in files if self.found.get(place) != later.found.get(place)}
        return {place.real for place in other | (self.folders ^ later.folders)}


def _looked_at(places: Iterable[Place]) -> Iterator[tuple[Place, Mark | None]]:
    """Yield the places where anything is, with the mark of each; None: that of a folder."""
    for place in places:
        with suppress(WorkspaceError):  # a folder on the way has become something else
            status = disk.status(place)
            if status is not None:
                yield place, None if kind_of(status.st_mode) == "folder" else Mark.of(status)


def compare(
    before: Mapping[Place, Mark], after: Mapping[Place, Mark], ledger: Ledger
) -> tuple[Change, ...]:
    """Return the changes between two looks, and note them.

    Args:
        before: The first look.
        after: The second.
        ledger: The view's ledger; it takes the changes for its own.
    """
    created = sorted(after.keys() - before.keys(), key=lambda place: place.parts)
    deleted = sorted(before.keys() - after.keys(), key=lambda place: place.parts)
    sources: dict[object, deque[Place]] = {}
    for place in deleted:
        sources.setdefault(before[place].file, deque()).append(place)
    moved: set[Place] = set()
    changes: list[Change] = []
    for place in created:
        now = _look(place)
        if same := sources.get(after[place].file):
            moved.add(source := same.popleft())
            changes.append(ledger.moved(source.path, place.path, now))
        else:
            changes.append(ledger.changed(place.path, MISSING, now))
    gone = (place for place in deleted if place not in moved)
    changes += [ledger.changed(place.path, State("file"), MISSING) for place in gone]
    for place, mark in after.items():
        if place in before and before[place] != mark:
            now = _look(place)
            if not ledger.seen.knows(place.path, now):
                changes.append(ledger.changed(place.path, State("file"), now))
    return tuple(sorted(changes, key=lambda change: change.path))


def _look(place: Place) -> State:
    try:
        return look(place)
    except WorkspaceError:
        return State("other")  # gone, or not to be read; that it changed is certain


class Watched(Process):
    """A process, and a look at the tree when it has ended, however it did."""

    def __init__(self, process: Process, look: Callable[[], Awaitable[tuple[Change, ...]]]) -> None:
        self._process = process
        self._look = look
        self._changes: tuple[Change, ...] | None = None

    def lines(self) -> AsyncIterator[Line]:
        """Return its lines as they come; ends when the output ends."""
        return self._process.lines()

    async def wait(self) -> Exit:
        """Wait for the end; on cancellation the whole tree is ended first."""
        try:
            done = await self._process.wait()
        finally:
            if self._changes is None:
                with anyio.CancelScope(shield=True):
                    self._changes = await self._look()
        return replace(done, changes=self._changes)

    async def kill(self) -> None:
        """End the whole tree: SIGTERM, 2 s, SIGKILL; the drain takes 1 s at most."""
        await self._process.kill()
