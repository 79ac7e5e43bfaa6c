"""Looks at a workspace that is only known by its methods: states of places, and walks."""

import hashlib
from collections.abc import AsyncIterator, Sequence

from lineshaft.errors import FileMissing, WorkspaceError
from lineshaft.values import Content, Entry, Struct, Workspace
from lineshaft.workspace._contents import Held, bytes_of
from lineshaft.workspace.anywhere.draft import Draft, entry, found, parts_of
from lineshaft.workspace.disk import NOTHING, FileState, Ignore

_IGNORE = ".gitignore"


class FarSight(Struct, frozen=True):
    """The state of a place, a file with its content."""

    thing: FileState
    held: Held | None = None

    @property
    def data(self) -> bytes | None:
        """A file's content."""
        return None if self.held is None else bytes_of(self.held)


async def look(workspace: Workspace, path: str, *, noted: bool = False) -> FarSight:
    """Return the state of a canonical path.

    Args:
        workspace: The workspace, or a view of it.
        path: The path.
        noted: Whether the look counts as a reading.
    """
    try:
        at = await workspace.stat(path)
        if at.symlink:
            return FarSight(FileState("symlink"))
        if at.kind != "file":
            return FarSight(FileState("folder" if at.kind == "folder" else "other"))
        content = await workspace.read(path, noted=noted)
    except FileMissing:
        return FarSight(NOTHING)
    return FarSight(file_state(content), content.data)


def file_state(content: Content) -> FileState:
    """Return the state of a file that was read."""
    return FileState("file", content.sha256 or sha256_of(content.data), len(content.data))


def sha256_of(data: bytes) -> str:
    """Return the hash of a content."""
    return hashlib.sha256(data).hexdigest()


async def walk(
    workspace: Workspace, drafts: Sequence[Draft], root: str, *, ignore: bool, depth: int | None
) -> AsyncIterator[Entry]:
    """Yield all entries below a folder, with what is to be in place of what is.

    Args:
        workspace: The workspace below.
        drafts: What is laid over it, the lowest first.
        root: The folder's canonical path.
        ignore: Whether `.gitignore` files and `.git` are respected.
        depth: How many folders deep; None: all.

    Raises:
        FileMissing: It is not there.
        WorkspaceError: It is no folder.
    """
    staged = {path for draft in drafts for path in draft.nodes}
    if not staged:
        async for each in workspace.walk(root, ignore=ignore, depth=depth):
            yield each
        return
    at = found(drafts, root)
    if at is not None and at.thing.kind != "folder":
        if at.thing.kind == "missing":
            raise FileMissing(f"there is no file or folder {root!r}")
        raise WorkspaceError(f"{root!r} is not a folder")
    # Rules that are staged, too, hold in place of those that the workspace knows.
    own_rules = ignore and any(path.rpartition("/")[2] == _IGNORE for path in staged)
    entries: dict[str, Entry] = {}
    if at is None or await _is_folder(workspace, root):
        async for each in workspace.walk(root, ignore=ignore and not own_rules, depth=depth):
            if found(drafts, each.path) is None:
                entries[each.path] = each
    for path in staged:
        node = found(drafts, path)
        if node is not None and node.thing.kind in ("file", "folder"):
            entries[path] = entry(path, node.thing)
    start = parts_of(root)
    most = len(start) + (depth or len(parts_of(max(entries, key=len, default=""))) + 4_096)
    rules = _Rules(workspace, drafts, root, {}) if ignore else None
    for path in sorted(entries, key=parts_of):
        parts = parts_of(path)
        inside = mount_of(path) == mount_of(root) and parts[: len(start)] == start
        if not inside or not len(start) < len(parts) <= most:
            continue
        if rules is None or not await rules.hide(path, folder=entries[path].kind == "folder"):
            yield entries[path]


async def _is_folder(workspace: Workspace, path: str) -> bool:
    try:
        return (await workspace.stat(path)).kind == "folder"
    except FileMissing:
        return False


class _Rules(Struct):
    """The rules of `.gitignore` files as they are to be, read once a walk."""

    workspace: Workspace
    drafts: Sequence[Draft]
    root: str
    known: dict[tuple[str, ...], Ignore]

    async def hide(self, path: str, *, folder: bool) -> bool:
        """Return whether a walk leaves a path out, or a folder that it lies in."""
        parts, start = parts_of(path), parts_of(self.root)
        for count in range(len(start) + 1, len(parts) + 1):
            rules = await self._within(parts[: count - 1])
            if rules.hides(parts[:count], folder=folder or count < len(parts)):
                return True
        return False

    async def _within(self, parts: tuple[str, ...]) -> Ignore:
        """Return the rules that hold in a folder; a folder asked for by name starts anew."""
        if parts in self.known:
            return self.known[parts]
        above = Ignore() if not parts else await self._within(parts[:-1])
        if parts and len(parts) <= len(parts_of(self.root)) and above.hides(parts, folder=True):
            above = Ignore()
        text = await self._text("/".join((*mount_of(self.root), *parts, _IGNORE)))
        rules = above if text is None else above.with_text(text, len(parts))
        self.known[parts] = rules
        return rules

    async def _text(self, path: str) -> bytes | None:
        node = found(self.drafts, path)
        if node is not None:
            return None if node.held is None else bytes_of(node.held)
        try:
            return (await self.workspace.read(path, noted=False)).data
        except WorkspaceError:
            return None


def mount_of(path: str) -> tuple[str, ...]:
    """Return the alias that a canonical path begins with, where it has one."""
    return (path.partition("/")[0],) if path.startswith("@") else ()
