"""Files that a run has changed and that have not landed, with both contents."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anyio import to_thread

from lineshaft.errors import ToolError, WorkspaceError
from lineshaft.values import Context

_APART = frozenset({".git", "node_modules"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """One file."""

    before: bytes | None
    """On the disk; None: there is none."""

    after: bytes | None
    """As the run has it; None: it is gone."""

    @property
    def texts(self) -> tuple[str, str]:
        """Both contents as text; that of no file is empty."""
        old, new = (b"" if data is None else data for data in (self.before, self.after))
        return old.decode("utf-8", "surrogateescape"), new.decode("utf-8", "surrogateescape")


async def changed_files(call: Context) -> Mapping[str, ChangedFile]:
    """Return what a run has changed against the disk, by path.

    Ignored files do not count, nor what policy hides.
    """
    root = Path((await call.workspace.resolve(".")).real)
    found: dict[str, ChangedFile] = {}
    seen: set[str] = set()
    async for entry in call.workspace.walk("."):
        if entry.kind != "file" or _APART.intersection(entry.path.split("/")):
            continue
        seen.add(entry.path)
        try:
            after = (await call.workspace.read(entry.path)).data
        except (ToolError, WorkspaceError):
            continue
        before = await on_disk(root, entry.path)
        if before != after:
            found[entry.path] = ChangedFile(before=before, after=after)
    for path in await to_thread.run_sync(_listed, root):
        if path not in seen and await _is_gone(call, path):
            found[path] = ChangedFile(before=await on_disk(root, path), after=None)
    return found


async def on_disk(root: Path, path: str) -> bytes | None:
    """Return a file's content on the disk; None where there is none."""

    def read() -> bytes | None:
        try:
            return (root / path).read_bytes()
        except OSError:
            return None

    return await to_thread.run_sync(read)


async def _is_gone(call: Context, path: str) -> bool:
    try:
        await call.workspace.stat(path)
    except WorkspaceError as error:
        return error.code == "E_FILE_NOT_FOUND"
    except ToolError:
        return False
    return False


def _listed(root: Path) -> list[str]:
    found: list[str] = []
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in _APART]
        found += [Path(folder, name).relative_to(root).as_posix() for name in files]
    return found
