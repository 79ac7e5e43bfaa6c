"""Find out what a process changed: two looks at the tree, told apart by size, times and inode.

Nothing is read for the first look, so of a changed file only the content after is known.
"""

from collections.abc import Mapping

from lineshaft.errors import WorkspaceError
from lineshaft.values import Change
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
    """Return what changed between two looks, and note it.

    Args:
        before: The first look.
        after: The second.
        ledger: What the view knows; it takes the changes for its own.
    """
    created = sorted(after.keys() - before.keys(), key=lambda place: place.parts)
    deleted = sorted(before.keys() - after.keys(), key=lambda place: place.parts)
    changes: list[Change] = []
    for place in created:
        source = next((old for old in deleted if after[place].same_file(before[old])), None)
        now = _look(place)
        if source is None:
            changes.append(ledger.changed(place.path, MISSING, now))
        else:
            deleted.remove(source)
            changes.append(ledger.moved(source.path, place.path, now))
    changes += [ledger.changed(place.path, State("file"), MISSING) for place in deleted]
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
