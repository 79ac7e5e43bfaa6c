"""The part of a landing that goes through an editor, where a person sees it and can undo it.

Above: `staging/landing.py`. Below: the editor's window. Contents of files that stay files go
through it, and new files; folders, moves, deletions, modes, symlinks and large contents do not.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec import field
from msgspec.structs import replace

from lineshaft.errors import StaleFile, WorkspaceError
from lineshaft.values import Change, Finding, Struct
from lineshaft.workspace import _contents
from lineshaft.workspace.disk import (
    Editor,
    EditorEdit,
    FileState,
    Place,
    SavedFile,
    Unsaved,
    see,
)
from lineshaft.workspace.journal import FromStage, Header, Item, Journals, Task
from lineshaft.workspace.staging.overlay import Base, OverlayNode

_MOST_BYTES = 5_000_000
"""Of a file that goes through an editor; it is sent whole."""

_MOST_TOGETHER = 16_000_000
"""Of all files of one landing that do."""


class Saved(Struct, frozen=True, kw_only=True):
    """The result of a landing in an editor."""

    formatted: Mapping[str, str] = field(default_factory=dict[str, str])
    """New hashes of files that saving changed, by path."""

    findings: tuple[Finding, ...] = ()
    """What a person should know of it."""

    def now(self, change: Change) -> Change:
        """Return a change with the content that its file has now."""
        sha256 = self.formatted.get(change.path)
        return change if sha256 is None else replace(change, sha256=sha256)


class Through:
    """The edits of a landing that an editor makes, and the tasks that are left.

    Args:
        editor: The window; None: there is none, and every task is left.
        tasks: All that is to be done.
        changes: The stage.

    Raises:
        StaleFile: A file that is not saved is to be changed in a way that no editor does.
    """

    def __init__(
        self,
        editor: Editor | None,
        tasks: Iterable[Task],
        changes: Sequence[tuple[Base, OverlayNode]],
    ) -> None:
        self.left: list[Task] = []
        self.unsaved: dict[str, bytes] = {}
        """Contents that the editor has not saved, by their hash: the journal keeps them."""

        self.saved = Saved()
        self.formatted: list[tuple[Item, bytes, SavedFile]] = []
        """Items with the content that was meant, and the one that they got."""

        self._editor = editor
        self._edits: list[tuple[Item, EditorEdit]] = []
        self._places = {base.place.real: base.place for base, _ in changes}
        if editor is None:
            self.left += tasks
            return
        shown = {base.place.real: node for base, node in changes if base.place.root.editor}
        self._share_out(tasks, shown, editor.unsaved())

    def _share_out(
        self,
        tasks: Iterable[Task],
        shown: Mapping[str, OverlayNode],
        unsaved: Mapping[str, Unsaved],
    ) -> None:
        room = _MOST_TOGETHER
        stale: list[str] = []
        for task in tasks:
            real = task.item.place.real
            node = shown.get(real)
            data = None if node is None else _content(task.item, node)
            if data is not None and len(data) <= room:
                room -= len(data)
                self._edits.append((task.item, _edit(task.item, data)))
                if (held := unsaved.get(real)) is not None and held.data is not None:
                    self.unsaved[held.sha256 or ""] = held.data
            elif real in unsaved:
                stale.append(task.item.place.path)
            else:
                self.left.append(task)
        if stale:
            named = ", ".join(repr(path) for path in stale)
            raise StaleFile(
                f"changes in the editor are not saved, and a landing cannot go over them: {named};"
                " nothing landed",
                hint="Save them, or close them without saving, and run again.",
                paths=tuple(stale),
            )

    def edit(self) -> None:
        """Make the changes of the editor's files in the editor.

        Raises:
            StaleFile: It cannot make all of them.
            WorkspaceError: It says that it made one, and the file is as it was.
        """
        if self._editor is None or not self._edits:
            return
        done = self._editor.edit([edit for _, edit in self._edits])
        findings: list[Finding] = []
        for item, edit in self._edits:
            now = done[edit.real]
            if _hash(now) != edit.before and _is_as_before(self._places[edit.real], edit):
                raise WorkspaceError(
                    f"the window says that it changed {edit.path!r}, and the file is as it was;"
                    " nothing landed",
                    hint="Look at the extension's log, load the window again, and run again.",
                )
            if now.data != edit.after:
                self.formatted.append((item, edit.after, now))
            findings += _told(item.place.path, formatted=now.data != edit.after, saved=now)
        self.saved = Saved(
            formatted={item.place.path: _hash(now) for item, _, now in self.formatted},
            findings=tuple(findings),
        )


def _content(item: Item, node: OverlayNode) -> bytes | None:
    """Return the new content of a file, if an editor can give it that; None: it cannot."""
    before, after = item.before, item.after
    plain = after.kind == "file" and item.came is None and node.held is not None
    keeps = after.mode is None or after.mode == before.mode
    if not plain or not keeps or before.kind not in ("missing", "file"):
        return None
    if before.sha256 == after.sha256 or max(before.size, after.size) > _MOST_BYTES:
        return None
    return None if node.held is None else _contents.bytes_of(node.held)


def _edit(item: Item, data: bytes) -> EditorEdit:
    return EditorEdit(
        path=item.place.path, real=item.place.real, before=item.before.sha256, after=data
    )


def _is_as_before(place: Place, edit: EditorEdit) -> bool:
    """Return whether a file is certainly as it was before an edit."""
    with suppress(WorkspaceError):  # it cannot be looked at: the window is believed
        return see(place, keep=0).thing.sha256 == edit.before
    return False


def _hash(saved: SavedFile) -> str:
    return Unsaved(saved.data).sha256 or ""


def _told(path: str, *, formatted: bool, saved: SavedFile) -> Sequence[Finding]:
    found: list[Finding] = []
    if formatted:
        found.append(
            Finding(
                code="formatted-on-save",
                level="info",
                path=path,
                message=f"the editor changed {path!r} when it saved it: read it before you go on",
            )
        )
    if not saved.by_editor:
        found.append(
            Finding(
                code="no-undo-in-editor",
                level="info",
                path=path,
                message=f"{path!r} was written to the disk: an undo in the editor does not take it"
                " back, `lineshaft undo` does",
            )
        )
    return found


def note_formatted(journals: Journals, header: Header, through: Through) -> None:
    """Keep what saving made of contents, so that an undo knows the files again."""
    items: list[Item] = []
    sources: dict[str, FromStage] = {}
    for item, meant, now in through.formatted:
        sha256 = _hash(now)
        after = FileState("file", sha256, len(now.data), item.after.mode)
        items.append(Item(item.place, item.after, after))
        sources[item.after.sha256 or ""] = FromStage(meant)
        sources[sha256] = FromStage(now.data)
    known = Header(
        id=journals.new_id(header.run_id),
        kind="stage",
        run_id=header.run_id,
        stage=header.stage,
        items=tuple(items),
    )
    journals.done(journals.commit(known, sources))
