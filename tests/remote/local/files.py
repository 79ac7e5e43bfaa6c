"""Text files of a folder: read, written and edited, with what an edit can take back."""

from collections import defaultdict

from lineshaft.errors import FileMissing, OutsideWorkspace, PreconditionFailed, WorkspaceError
from lineshaft.remote.protocol import (
    EditAction,
    EditObservation,
    ReadAction,
    ReadObservation,
    WriteAction,
    WriteObservation,
)
from lineshaft.values import Content, DecodedText, Struct, decoded_text
from lineshaft.workspace import Folder
from remote.local import editing

_MOST_BYTES = 10_000_000
_DEPTH = 2
_KEPT_EDITS = 20


class _Step(Struct, frozen=True):
    """An edit that can be taken back."""

    before: bytes | None
    """None: there was no file."""

    after_sha256: str | None


class FileActions:
    """Reads, writes and edits of files in a folder.

    Args:
        folder: The folder; paths are decided on the real file system.
    """

    def __init__(self, folder: Folder) -> None:
        self._folder = folder
        self._steps: dict[str, list[_Step]] = defaultdict(list)

    async def path(self, given: str) -> str:
        """Return a path in the workspace; an absolute one is mapped where it lies inside.

        Raises:
            OutsideWorkspace: It leads out.
        """
        root = self._folder.root.rstrip("/")
        inside = given.removeprefix(root).lstrip("/") or "."
        if given.startswith("/") and given != root and not given.startswith(f"{root}/"):
            raise OutsideWorkspace(f"the path {given!r} is not in the open folder")
        path = inside if given.startswith("/") else given
        return (await self._folder.resolve(path)).path

    async def read(self, action: ReadAction) -> ReadObservation:
        """Return the text of a file, or some lines of it."""
        path = await self.path(action.path)
        text = _text(await self._content(path), path).text
        shown = editing.window(text, action.start, action.end, action.view_range, path)
        return ReadObservation(content=shown, path=action.path)

    async def write(self, action: WriteAction) -> WriteObservation:
        """Write a file, whole or some lines; it keeps its encoding."""
        path = await self.path(action.path)
        try:
            before: Content | None = await self._content(path)
        except FileMissing:
            before = None
        whole = action.start <= 0 and action.end == -1
        old = DecodedText("") if before is None else decoded_text(before.data)
        if old is None and not whole:
            raise _no_text(path)
        old = old or DecodedText("")
        text = editing.with_lines(old.text, action.content, action.start, action.end)
        await self._put(path, _bytes(old, text, path), before)
        return WriteObservation(content=f"{path} is written", path=action.path)

    async def edit(self, action: EditAction) -> EditObservation:
        """Do one of the five edits."""
        path = await self.path(action.path)
        match action.command:
            case "view":
                return EditObservation(content=await self._view(path, action), path=action.path)
            case "create":
                return await self._create(path, action)
            case "undo_edit":
                return await self._undo(path, action)
            case _:
                return await self._change(path, action)

    async def _view(self, path: str, action: EditAction) -> str:
        entry = await self._folder.stat(path)
        if entry.kind == "folder":
            if action.view_range is not None:
                raise WorkspaceError(f"{path!r} is a folder: it has no `view_range`")
            found = [e async for e in self._folder.walk(path, ignore=False, depth=_DEPTH)]
            shown = [e for e in found if not e.hidden]
            return "\n".join(f"{e.path}/" if e.kind == "folder" else e.path for e in shown)
        text = _text(await self._content(path), path).text
        return editing.viewed(text, action.view_range, path)

    async def _create(self, path: str, action: EditAction) -> EditObservation:
        text = action.file_text
        if text is None:
            raise WorkspaceError("`create` needs `file_text`")
        try:
            await self._folder.stat(path)
        except FileMissing:
            await self._put(path, text.encode(), None)
            return EditObservation(
                content=f"{path} is created",
                path=action.path,
                prev_exist=False,
                new_content=text,
                diff=editing.diff("", text, path),
            )
        raise PreconditionFailed(f"{path!r} exists", hint="edit it, or choose another name")

    async def _change(self, path: str, action: EditAction) -> EditObservation:
        content = await self._content(path)
        old = _text(content, path)
        if action.command == "insert":
            text = editing.inserted(old.text, action.insert_line, action.new_str, path)
        else:
            text = editing.replaced(old.text, action.old_str, action.new_str, path)
        await self._put(path, _bytes(old, text, path), content)
        return _edited(action.path, path, old.text, text)

    async def _undo(self, path: str, action: EditAction) -> EditObservation:
        steps = self._steps[path]
        if not steps:
            raise PreconditionFailed(f"no edit of {path!r} can be taken back")
        step = steps[-1]
        content = await self._content(path)
        if content.sha256 != step.after_sha256:
            raise PreconditionFailed(
                f"{path!r} was changed since its last edit here", hint="edit it by hand"
            )
        now = _text(content, path).text
        if step.before is None:
            await self._folder.delete(path)
            before = ""
        else:
            await self._folder.write(path, step.before, if_match=content.sha256)
            before = (decoded_text(step.before) or DecodedText("")).text
        steps.pop()
        return _edited(action.path, path, now, before)

    async def _content(self, path: str) -> Content:
        content = await self._folder.read(path)
        if len(content.data) > _MOST_BYTES:
            raise WorkspaceError(f"{path!r} is larger than {_MOST_BYTES:,} bytes")
        return content

    async def _put(self, path: str, data: bytes, before: Content | None) -> None:
        match = None if before is None else before.sha256
        change = await self._folder.write(path, data, if_match=match)
        step = _Step(None if before is None else before.data, change.sha256)
        self._steps[path] = [*self._steps[path], step][-_KEPT_EDITS:]


def _text(content: Content, path: str) -> DecodedText:
    text = decoded_text(content.data)
    if text is None:
        raise _no_text(path)
    return text


def _no_text(path: str) -> WorkspaceError:
    return WorkspaceError(
        f"{path!r} is not a text file", hint="use a command that knows its format"
    )


def _bytes(old: DecodedText, text: str, path: str) -> bytes:
    try:
        return old.encoded(text)
    except UnicodeEncodeError as error:
        lacking = error.object[error.start]
        raise WorkspaceError(
            f"{path!r} is written in {old.encoding}, which has no {lacking!r}"
        ) from error


def _edited(given: str, path: str, before: str, after: str) -> EditObservation:
    return EditObservation(
        content=f"{path} is edited:\n{editing.snippet(before, after)}",
        path=given,
        old_content=before,
        new_content=after,
        diff=editing.diff(before, after, path),
    )
