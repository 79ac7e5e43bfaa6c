"""Changes of a run to a folder that was kept apart from it, path by path.

Above: `python_run`, which lands the changes. Below: the upper layer of an overlay, or a copy.
"""

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple, cast

from lineshaft.sandbox.jail._spec import Changes, JailedChange, SandboxSpec
from lineshaft.values import StagedKind

_PERMISSIONS = 0o777
Kind = Literal["file", "dir", "symlink", "other"]


class PathState(NamedTuple):
    """The state of a path at one moment."""

    kind: str
    mode: int
    digest: str | None
    target: str | None


class PathDifference(NamedTuple):
    """The states of a path before and after, and the place of its new bytes."""

    path: str
    before: PathState | None
    after: PathState | None
    place: str | None


def from_overlay(report: Path, root: Path, spec: SandboxSpec) -> Changes:
    """Return the changes in the report of the broker's accountant."""
    lines = report.read_text(encoding="utf-8").splitlines()
    return settle((_difference(line) for line in lines), root=root, spec=spec)


def changes_of_copy(
    copy: Path, root: Path, before: dict[str, PathState], spec: SandboxSpec
) -> Changes:
    """Return the changes in a copy of a folder.

    Args:
        copy: The copy, after the run.
        root: The folder.
        before: The copy's states before the run.
        spec: Their hidden paths were not copied.
    """
    after = states(copy)
    paths = sorted(before.keys() | after.keys())
    found = (PathDifference(p, before.get(p), after.get(p), str(copy / p)) for p in paths)
    return settle(found, root=root, spec=spec)


def states(root: Path) -> dict[str, PathState]:
    """Return the state of everything below a folder, by relative path."""
    return {path.relative_to(root).as_posix(): state_of(path) for path in _below(root)}


def state_of(path: Path) -> PathState:
    """Return the state of one path."""
    found = path.lstat()
    mode = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode):
        return PathState("symlink", mode, None, str(path.readlink()))
    if stat.S_ISDIR(found.st_mode):
        return PathState("dir", mode, None, None)
    if not stat.S_ISREG(found.st_mode):
        return PathState("other", mode, None, None)
    with path.open("rb") as file:
        return PathState("file", mode, hashlib.file_digest(file, "sha256").hexdigest(), None)


def settle(differences: Iterable[PathDifference], *, root: Path, spec: SandboxSpec) -> Changes:
    """Sort differences into changes, and those that the spec does not allow."""
    changes: list[JailedChange] = []
    refused: set[str] = set()
    top = root.resolve()
    closed = [path.resolve() for path in (*spec.hidden, *spec.readonly)]
    over: dict[Path, StagedKind] = {Path(file.real): file.kind for file in spec.over}
    for difference in differences:
        path, before, after, _ = difference
        if _same(before, after):
            continue
        place = top / path
        # A folder that was removed or replaced takes with it the closed paths in it.
        lost = () if after is not None and after.kind == "dir" else _inside(place, closed, over)
        refused.update(wall.relative_to(top).as_posix() for wall in lost)
        special = after is not None and after.kind == "other"
        if special or any(place == wall or wall in place.parents for wall in closed):
            refused.add(path)
        else:
            changes.append(_change(difference))
    return Changes(files=tuple(changes), refused=tuple(sorted(refused)))


def _inside(place: Path, closed: Iterable[Path], over: Mapping[Path, StagedKind]) -> list[Path]:
    return [wall for wall in closed if place in wall.parents and _is_there(wall, over)]


def _is_there(wall: Path, over: Mapping[Path, StagedKind]) -> bool:
    """Return whether a closed path exists, with what is laid over the disk."""
    for path in (wall, *wall.parents) if over else ():
        kind = over.get(path)
        if path == wall and kind is not None:
            return kind != "missing"
        if kind is not None:
            return kind == "folder" and os.path.lexists(wall)
    return os.path.lexists(wall)


def _change(difference: PathDifference) -> JailedChange:
    path, before, after, place = difference
    digest = None if before is None else before.digest
    if after is None:
        return JailedChange(path=path, how="deleted", before_sha256=digest)
    if after.kind == "symlink":
        return JailedChange(path=path, how="symlink", target=after.target, before_sha256=digest)
    mode = after.mode & _PERMISSIONS
    if after.kind == "dir":
        return JailedChange(path=path, how="folder", mode=mode, before_sha256=digest)
    return JailedChange(path=path, how="written", upper=place, mode=mode, before_sha256=digest)


def _same(before: PathState | None, after: PathState | None) -> bool:
    if before is None or after is None:
        return before is after
    if before.kind == "symlink":
        return (before.kind, before.target) == (after.kind, after.target)
    one, other = ((s.kind, s.mode & _PERMISSIONS, s.digest) for s in (before, after))
    return one == other


def _difference(line: str) -> PathDifference:
    path, before, after, place = cast(
        "tuple[str, list[object] | None, list[object] | None, str | None]", json.loads(line)
    )
    where = None if place is None else _text(place)
    return PathDifference(_text(path), _state(before), _state(after), where)


def _state(said: list[object] | None) -> PathState | None:
    if said is None:
        return None
    kind, mode, digest, target = cast("tuple[str, int, str | None, str | None]", said)
    return PathState(kind, mode, digest, None if target is None else _text(target))


def _text(word: str) -> str:
    return os.fsdecode(bytes.fromhex(word))


def _below(root: Path) -> Iterator[Path]:
    for entry in sorted(os.scandir(root), key=lambda entry: entry.name):
        path = Path(entry.path)
        yield path
        if entry.is_dir(follow_symlinks=False):
            yield from _below(path)
