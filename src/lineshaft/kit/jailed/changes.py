"""Conversion of a program's changes in its jail to changes of the workspace.

The folder itself is as it was. Each change is made through the call's view, so that it is judged,
checked for staleness and recorded like any other; all are looked at before the first is made.
"""

import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from anyio import to_thread
from msgspec import field

from lineshaft.errors import FileMissing, OutsideWorkspace, StaleFile, ToolError, WorkspaceError
from lineshaft.kit.jailed.closed_paths import canonical
from lineshaft.sandbox.jail import Changes, JailedChange
from lineshaft.values import Context, Resolved, Struct, Workspace, first_few

_TOLD = 20

T = TypeVar("T")


class _Written(Struct, frozen=True):
    """A file that the program wrote."""

    path: str
    """Canonical."""

    data: bytes
    sha256: str
    said: JailedChange


class _ChangePlan(Struct):
    """The changes to make, in order."""

    moves: list[tuple[str, _Written]] = field(default_factory=list[tuple[str, "_Written"]])
    deleted: list[JailedChange] = field(default_factory=list[JailedChange])
    folders: list[JailedChange] = field(default_factory=list[JailedChange])
    written: list[_Written] = field(default_factory=list[_Written])
    links: list[JailedChange] = field(default_factory=list[JailedChange])
    not_kept: list[str] = field(default_factory=list[str])


async def land(call: Context, changes: Changes) -> list[str]:
    """Make a program's changes real.

    Args:
        call: The call.
        changes: What the program did.

    Returns:
        Changes that were not kept: symlinks that lead out, folders filled from outside, names that
        are not UTF-8.

    Raises:
        ToolError: `E_DENIED`, where it changed what it may not; nothing was changed then.
        WorkspaceError: A file is stale, or cannot be written.
    """
    files = [file for file in changes.files if _is_text(file)]
    places = [await call.workspace.resolve(canonical(file.path), follow=False) for file in files]
    closed = [
        file.path
        for file, place in zip(files, places, strict=True)
        if not (place.writable and call.reach(place.path) == "open")
    ]
    refused = sorted({*changes.refused, *closed})
    if refused:
        named = first_few(refused, _TOLD, quoted=True)
        raise ToolError(
            "E_DENIED",
            f"the program changed what policy closes to it: {named}; none of its changes were kept",
        )
    for file in files:
        await _check(call.workspace, file)
    written = [place for file, place in zip(files, places, strict=True) if file.how == "written"]
    await _must_not_be_protected(call.workspace, written)
    plan = await _plan(call.workspace, files)
    plan.not_kept += [_nameless(file) for file in changes.files if not _is_text(file)]
    await _carry_out(call.workspace, plan)
    return plan.not_kept


def _is_text(file: JailedChange) -> bool:
    """Return whether a workspace can name a change: its path, and what a symlink holds."""
    try:
        f"{file.path}{file.target or ''}".encode()
    except UnicodeEncodeError:
        return False
    return True


def _nameless(file: JailedChange) -> str:
    path = os.fsencode(file.path).decode("utf-8", "backslashreplace")
    return f"{path} (its name is not UTF-8)"


async def _must_not_be_protected(view: Workspace, places: Iterable[Resolved]) -> None:
    """Raise where the view would refuse to write over a file on the disk: before any change."""
    protected = {place.real: place.path for place in places if _is_protected(place.real)}
    if protected:
        staged = {file.real for file in await view.kept_back()}
        if paths := [path for real, path in protected.items() if real not in staged]:
            named = first_few(paths, _TOLD, quoted=True)
            raise WorkspaceError(
                f"the program replaced what is write-protected: {named};"
                " none of its changes were kept",
                hint="Leave these files as they are, or make them writable first.",
            )


def _is_protected(real: str) -> bool:
    """Return whether a file may not be written; symlinks are replaced, not followed."""
    if not os.path.isfile(real) or os.path.islink(real):  # noqa: PTH113, PTH114  paths of a view are text
        return False
    return not os.access(real, os.W_OK, effective_ids=os.access in os.supports_effective_ids)


async def _check(view: Workspace, file: JailedChange) -> None:
    """Raise if the real file was changed from outside while the program ran."""
    path = canonical(file.path)
    if file.before_sha256 is not None:
        try:
            now = (await view.read(path)).sha256
        except FileMissing:
            now = None
        same = now == file.before_sha256
    else:
        same = file.how != "written" or await _kind(view, path) != "file"
    if not same:
        raise StaleFile(
            f"{path!r} was changed from outside while the program ran; none of its changes"
            " were kept",
            hint="Run it again.",
        )


async def _kind(view: Workspace, path: str) -> str:
    """Return what is at a path itself, `missing` where nothing is."""
    try:
        entry = await view.stat(path)
    except FileMissing:
        return "missing"
    return "symlink" if entry.symlink else entry.kind


async def _plan(view: Workspace, files: Sequence[JailedChange]) -> _ChangePlan:
    plan = _ChangePlan()
    for file in files:
        if file.how == "deleted":
            plan.deleted.append(file)
        elif file.how == "symlink":
            plan.links.append(file)
            plan.deleted += await _in_the_way(view, file)
        elif file.how == "folder":
            plan.folders.append(file)
            plan.deleted += await _in_the_way(view, file)
        else:
            data = await to_thread.run_sync(Path(file.upper or "").read_bytes)
            digest = hashlib.sha256(data).hexdigest()
            plan.written.append(_Written(canonical(file.path), data, digest, file))
    await _find_moves(view, plan)
    return plan


async def _in_the_way(view: Workspace, file: JailedChange) -> list[JailedChange]:
    """Return what has to go before something else can be there."""
    kind = await _kind(view, canonical(file.path))
    stays = kind == "missing" or (file.how == kind == "folder")
    return [] if stays else [file]


async def _find_moves(view: Workspace, plan: _ChangePlan) -> None:
    """Take for moved what is gone here and new there, if only one file had that content."""
    gone = _unique((file.before_sha256, file) for file in plan.deleted if file.how == "deleted")
    new = _unique((w.sha256, w) for w in plan.written if w.said.before_sha256 is None)
    for sha256 in gone.keys() & new.keys():
        source, target = gone[sha256], new[sha256]
        if await _kind(view, target.path) == "missing":
            plan.deleted.remove(source)
            plan.written.remove(target)
            plan.moves.append((canonical(source.path), target))


def _unique(pairs: Iterable[tuple[str | None, T]]) -> dict[str, T]:
    found: dict[str, list[T]] = {}
    for key, value in pairs:
        if key is not None:
            found.setdefault(key, []).append(value)
    return {key: values[0] for key, values in found.items() if len(values) == 1}


async def _carry_out(view: Workspace, plan: _ChangePlan) -> None:
    # Files first, so that their names are free; folders once they are empty, the deepest first;
    # modes last, since a folder may be closed to what is to be in it.
    folders: list[str] = []
    for file in plan.deleted:
        path = canonical(file.path)
        if await _kind(view, path) == "folder":
            folders.append(path)
        else:
            await view.delete(path)
    for source, target in sorted(plan.moves, key=lambda move: move[0]):
        await view.move(source, target.path)
        await view.write(target.path, target.data, mode=target.said.mode)
    for path in sorted(folders, reverse=True):
        await _delete_folder(view, path, plan)
    for folder in plan.folders:
        await view.make_folder(canonical(folder.path))
    for written in plan.written:
        await _write(view, written, plan)
    for link in plan.links:
        await _link(view, link, plan)
    for folder in reversed(plan.folders):
        await view.make_folder(canonical(folder.path), mode=folder.mode)


async def _write(view: Workspace, written: _Written, plan: _ChangePlan) -> None:
    kind = await _kind(view, written.path)
    if kind == "symlink":
        await view.delete(written.path)
    elif kind == "folder":
        await _delete_folder(view, written.path, plan)
    said = written.said
    await view.write(written.path, written.data, if_match=said.before_sha256, mode=said.mode)


async def _link(view: Workspace, link: JailedChange, plan: _ChangePlan) -> None:
    path = canonical(link.path)
    try:
        await view.link(path, link.target or "")
    except OutsideWorkspace:
        plan.not_kept.append(f"{path} (a symlink that leads out)")


async def _delete_folder(view: Workspace, path: str, plan: _ChangePlan) -> None:
    try:
        await view.delete(path)
    except WorkspaceError as error:
        plan.not_kept.append(f"{path} (not removed: {error.message})")
