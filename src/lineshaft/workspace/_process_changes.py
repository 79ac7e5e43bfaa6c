"""Changes by processes of a run: two looks at the tree, compared by size, times and inode.

Nothing is read for the first look, so of a changed file only the content after is known.
"""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import anyio
from msgspec.structs import replace

from lineshaft.errors import WorkspaceError
from lineshaft.values import Change, Exit, Line, Process
from lineshaft.workspace import disk
from lineshaft.workspace._ledger import Ledger
from lineshaft.workspace.disk import MISSING, Ignore, Mark, Place, State, look, scan


def snapshot(folder: Place) -> Mapping[Place, Mark]:
    """Return a mark for each file and symlink; ignored folders are not entered."""
    return {
        found.place: Mark.of(found.status)
        for found in scan(folder, ignore=Ignore.at(folder), files_too=False)
        if found.kind != "folder"
    }


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


def marks(root: Place) -> Mapping[Place, Mark]:
    """Take a look at a tree, to be compared with a later one."""
    with disk.told(root.path):
        return snapshot(root)
