"""A plain way to land changes on a copy of a folder, and to say what a folder is."""

import os
import shutil
from pathlib import Path

from lineshaft.sandbox.jail import Changes
from lineshaft.sandbox.jail._differences import PathState, states


def land(changes: Changes, root: Path) -> None:
    """Do to a folder what a run did to the one that was kept apart."""
    assert changes.refused == ()
    for change in reversed(changes.files):
        place = root / change.path
        if change.how == "deleted" and os.path.lexists(place):
            _remove(place)
    for change in changes.files:
        place = root / change.path
        if change.how == "deleted":
            continue
        if os.path.lexists(place) and (change.how != "folder" or not _is_folder(place)):
            _remove(place)
        place.parent.mkdir(parents=True, exist_ok=True)
        if change.how == "folder":
            place.mkdir(exist_ok=True)
        elif change.how == "symlink":
            place.symlink_to(str(change.target))
        else:
            place.write_bytes(Path(str(change.upper)).read_bytes())
    for change in reversed(changes.files):
        if change.mode is not None:
            (root / change.path).chmod(change.mode)


def tree(root: Path) -> dict[str, PathState]:
    """Return everything in a folder, without the permissions of links."""
    return {
        path: state._replace(mode=0) if state.kind == "symlink" else state
        for path, state in states(root).items()
    }


def _remove(place: Path) -> None:
    if _is_folder(place):
        shutil.rmtree(place)
    else:
        place.unlink()


def _is_folder(place: Path) -> bool:
    return place.is_dir() and not place.is_symlink()
