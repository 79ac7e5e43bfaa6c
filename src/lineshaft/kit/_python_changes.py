"""From what a program did in its jail to changes of the workspace.

The folder itself is as it was. Each change is made through the call's view, so that it is judged,
checked for staleness and recorded like any other; all are looked at before the first is made.
"""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from anyio import to_thread

from lineshaft.engines import Changes, FileChange
from lineshaft.errors import FileMissing, StaleFile, ToolError, WorkspaceError
from lineshaft.kit._python_walls import canonical
from lineshaft.values import Context, Workspace

_TOLD = 20
_EXECUTABLE = 0o111

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Written:
    """A file that the program wrote."""

    path: str
    """Canonical."""

    data: bytes
    sha256: str
    said: FileChange


@dataclass(slots=True)
class _Plan:
    """What is to be done, in this order."""

    moves: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    deleted: list[FileChange] = field(default_factory=list[FileChange])
    written: list[_Written] = field(default_factory=list[_Written])
    not_kept: list[str] = field(default_factory=list[str])


async def land(call: Context, changes: Changes) -> list[str]:
    """Make a program's changes real.

    Args:
        call: The call.
        changes: What the program did.

    Returns:
        What a workspace cannot hold and so was not kept: symlinks, empty folders, permissions.

    Raises:
        ToolError: `E_DENIED`, where it changed what it may not; nothing was changed then.
        WorkspaceError: A file is stale, or cannot be written.
    """
    closed = [file.path for file in changes.files if not await _is_open(call, file.path)]
    refused = sorted({*changes.refused, *closed})
    if refused:
        raise ToolError(
            "E_DENIED",
            f"the program changed what policy closes to it: {_list(refused)}; none of its changes"
            " were kept",
        )
    for file in changes.files:
        await _check(call.workspace, file)
    plan = await _plan(call.workspace, changes.files)
    await _carry_out(call.workspace, plan)
    return plan.not_kept


async def _is_open(call: Context, path: str) -> bool:
    resolved = await call.workspace.resolve(canonical(path), follow=False)
    return resolved.writable and call.reach(resolved.path) == "open"


async def _check(view: Workspace, file: FileChange) -> None:
    """Raise if somebody changed the real file while the program ran."""
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
            f"{path!r} was changed by somebody else while the program ran; none of its changes"
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


async def _plan(view: Workspace, files: Sequence[FileChange]) -> _Plan:
    plan = _Plan()
    for file in files:
        path = canonical(file.path)
        if file.how == "deleted":
            plan.deleted.append(file)
        elif file.how == "symlink":
            plan.not_kept.append(f"{path} (a symlink)")
        elif file.how == "folder":
            await _plan_folder(view, file, files, plan)
        else:
            await _plan_file(view, file, plan)
    await _find_moves(view, plan)
    return plan


async def _plan_folder(
    view: Workspace, file: FileChange, files: Sequence[FileChange], plan: _Plan
) -> None:
    if file.before_sha256 is not None:
        plan.deleted.append(file)  # a file was there
    within = f"{file.path}/"
    if any(other.how == "written" and other.path.startswith(within) for other in files):
        return
    if await _kind(view, canonical(file.path)) == "folder":
        plan.not_kept.append(f"{canonical(file.path)} (permissions of a folder)")
    elif not any(other.how == "folder" and other.path.startswith(within) for other in files):
        plan.not_kept.append(f"{canonical(file.path)} (an empty folder)")


async def _plan_file(view: Workspace, file: FileChange, plan: _Plan) -> None:
    path = canonical(file.path)
    data = await to_thread.run_sync(Path(file.upper or "").read_bytes)
    sha256 = hashlib.sha256(data).hexdigest()
    if (file.mode or 0) & _EXECUTABLE != await _executable(view, path):
        plan.not_kept.append(f"{path} (permission to execute)")
    if sha256 != file.before_sha256:
        plan.written.append(_Written(path, data, sha256, file))


async def _executable(view: Workspace, path: str) -> int:
    real = (await view.resolve(path, follow=False)).real
    return await to_thread.run_sync(_executable_bits, Path(real))


def _executable_bits(path: Path) -> int:
    return path.lstat().st_mode & _EXECUTABLE if path.is_file() else 0


async def _find_moves(view: Workspace, plan: _Plan) -> None:
    """Take for moved what is gone here and new there, if only one file had that content."""
    gone = _unique((file.before_sha256, file) for file in plan.deleted if file.how == "deleted")
    new = _unique((w.sha256, w) for w in plan.written if w.said.before_sha256 is None)
    for sha256 in gone.keys() & new.keys():
        source, target = gone[sha256], new[sha256]
        if await _kind(view, target.path) == "missing":
            plan.deleted.remove(source)
            plan.written.remove(target)
            plan.moves.append((canonical(source.path), target.path))


def _unique(pairs: Iterable[tuple[str | None, T]]) -> dict[str, T]:
    found: dict[str, list[T]] = {}
    for key, value in pairs:
        if key is not None:
            found.setdefault(key, []).append(value)
    return {key: values[0] for key, values in found.items() if len(values) == 1}


async def _carry_out(view: Workspace, plan: _Plan) -> None:
    # Files first, so that their names are free; folders once they are empty, the deepest first.
    folders: list[str] = []
    for file in plan.deleted:
        path = canonical(file.path)
        if await _kind(view, path) == "folder":
            folders.append(path)
        else:
            await view.delete(path)
    for source, target in sorted(plan.moves):
        await view.move(source, target)
    for path in sorted(folders, reverse=True):
        await _delete_folder(view, path, plan)
    for written in plan.written:
        kind = await _kind(view, written.path)
        if kind == "symlink":
            await view.delete(written.path)
        elif kind == "folder":
            await _delete_folder(view, written.path, plan)
        before = written.said.before_sha256
        await view.write(written.path, written.data, if_match=before)


async def _delete_folder(view: Workspace, path: str, plan: _Plan) -> None:
    try:
        await view.delete(path)
    except WorkspaceError as error:
        plan.not_kept.append(f"{path} (not removed: {error.message})")


def _list(paths: Sequence[str]) -> str:
    told = ", ".join(repr(path) for path in paths[:_TOLD])
    more = len(paths) - _TOLD
    return f"{told} and {more} more" if more > 0 else told
