"""Landing of changes: all or none.

Above: the staged view, recovery and undo. Below: `journal/folder.py`, `journal/steps.py`. The
    order: lock, check that all places are unchanged, write and sync a journal (from here on the
        changes will be made, even if this process dies), make them, note that they are made. Where
        making them fails they are taken back; where that fails too, the journal stays for recovery.

Not covered: between the last look at a file and its replacement are some microseconds, in which a
change from outside is lost; other programs may see some changes before others for milliseconds;
after a loss of power the journal is whole, but files may have lost what the system had not written.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress

from msgspec.structs import replace

from lineshaft.errors import StaleFile, WorkspaceError
from lineshaft.values import Struct, first_few
from lineshaft.workspace.disk import (
    KEPT_BYTES,
    Editor,
    FileState,
    Folders,
    SeenState,
    is_gone,
    is_scarce,
    mark_of,
    see,
)
from lineshaft.workspace.journal import (
    FromDisk,
    FromStage,
    Header,
    Item,
    Journals,
    Source,
    Task,
    carry_out,
    finish,
    others_in,
    reached,
)
from lineshaft.workspace.staging.overlay import Base, OverlayNode
from lineshaft.workspace.staging.through import Saved, Through, note_formatted

_TOLD = 20
_MEMORY_BYTES = 16_000_000
"""Of contents that are read once for looking at them and keeping them."""


class Landing(Struct, frozen=True, kw_only=True):
    """The stage to land."""

    run_id: str
    stage: int
    changes: tuple[tuple[Base, OverlayNode], ...]
    read: tuple[Base, ...] = ()
    """Files that it builds on."""


def land(journals: Journals, landing: Landing, editor: Editor | None = None) -> Saved:
    """Land a stage.

    Args:
        journals: Keep what was and what is to be.
        landing: The stage.
        editor: The window that shows the files: contents are changed through it, where it can.

    Returns:
        What saving made of contents.

    Raises:
        StaleFile: Files were changed from outside; nothing landed.
        WorkspaceError: It cannot land; nothing landed.
    """
    with journals.lock():
        finish(journals)
        if editor is not None:
            editor.look_again()
        with Folders() as folders:
            tasks, contents = _checked(landing, folders)
        through = Through(editor, tasks, landing.changes)
        contents.update(through.unsaved)
        reached("checked")
        items = [task.item for task in tasks]
        header = Header(
            id=journals.new_id(landing.run_id),
            kind="stage",
            run_id=landing.run_id,
            stage=landing.stage,
            items=tuple(items),
        )
        journal = journals.commit(header, _sources(landing, items, contents))
        carry_out(journals, journal, through.left, then=through.edit)
        if through.saved.formatted:
            with suppress(WorkspaceError):  # the landing stands: an undo says what was changed
                note_formatted(journals, header, through)
        return through.saved


def _checked(landing: Landing, folders: Folders) -> tuple[list[Task], dict[str, bytes]]:
    """Return the tasks, if all places are unchanged, and the contents that were read."""
    changing = {base.place.real for base, _ in landing.changes}
    gone = {base.place.real for base, node in landing.changes if node.thing.kind != "folder"}
    tasks: list[Task] = []
    stale: list[str] = []
    contents: dict[str, bytes] = {}
    room = _MEMORY_BYTES
    for base, node in landing.changes:
        came = node.came if node.came is not None and node.came.real in changing else None
        item = Item(base.place.on_disk(), base.sight.thing, node.thing, came)
        now = _now(base, folders, keep=min(room, KEPT_BYTES))
        if now is None:
            stale.append(base.place.path)  # a folder on the way is none any longer
            continue
        if now.data is not None and now.thing.sha256 is not None:
            contents[now.thing.sha256] = now.data
            room -= len(now.data)
        if now.thing.kind == item.after.kind == "folder" and item.after.mode is None:
            continue  # the same folder was made from outside
        fitting = _fitting(item, now.thing)
        if fitting is None:
            stale.append(base.place.path)
            continue
        if item.before.kind == "folder" and item.after.kind != "folder":
            stale += others_in(base.place, gone)
        tasks.append(Task(fitting, now.mark))
    looked_at = {base.place.real: base.sight.thing for base, _ in landing.changes}
    stale += [
        base.place.path
        for base in landing.read
        if looked_at.get(base.place.real) != base.sight.thing and not _is_like(base, folders)
    ]
    if stale:
        raise stale_files(tuple(dict.fromkeys(stale)))
    modes = {task.item.place.real: task.item.before.mode for task in tasks}
    return [_as_it_is(task, modes) for task in tasks], contents


def _as_it_is(task: Task, modes: Mapping[str, int | None]) -> Task:
    """Return a task whose file, if it was moved, keeps the mode that it has now."""
    item = task.item
    if item.came is None:
        return task
    return Task(replace(item, after=replace(item.after, mode=modes[item.came.real])), task.mark)


def stale_files(paths: Sequence[str]) -> StaleFile:
    """Return the error that names files changed from outside."""
    named = first_few(paths, _TOLD, quoted=True)
    return StaleFile(
        f"changed from outside since this run read them: {named}; nothing landed",
        hint="Read them again, then decide.",
        paths=tuple(paths),
    )


def _now(base: Base, folders: Folders, *, keep: int) -> SeenState | None:
    """Return the state of a place, a small file with its content; None where it cannot be read.

    The content of others is read only where their mark does not decide.
    """
    sight = base.sight
    small = sight.thing.kind == "file" and sight.thing.size <= keep
    try:
        if not small and sight.settled and mark_of(base.place, folders) == sight.mark:
            return sight
        return see(base.place, keep=keep, folders=folders)
    except WorkspaceError as error:
        if is_scarce(error) or is_gone(base.place):
            raise  # nobody changed anything
        return None


def _is_like(base: Base, folders: Folders) -> bool:
    now = _now(base, folders, keep=-1)
    return now is not None and now.thing.like(base.sight.thing)


def _fitting(item: Item, now: FileState) -> Item | None:
    """Return the task for a place that is unchanged; modes set from outside are kept."""
    before, after = item.before, item.after
    if not now.like(before):
        return None
    if now.mode == before.mode:
        return item
    if after.kind == before.kind and after.mode != before.mode:
        return None
    kept = now.mode if after.kind == before.kind else after.mode
    return replace(item, before=now, after=replace(after, mode=kept))


def _sources(
    landing: Landing, items: Iterable[Item], contents: dict[str, bytes]
) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    for item in items:
        sha256 = item.before.sha256
        if sha256 is not None:
            data = contents.get(sha256)
            sources[sha256] = FromDisk(item.place, item.before) if data is None else FromStage(data)
    for _, node in landing.changes:
        sha256 = node.thing.sha256
        if sha256 is None or sha256 in sources:
            continue
        if node.held is not None:
            sources[sha256] = FromStage(node.held)
        elif node.came is not None:
            sources[sha256] = FromDisk(node.came, node.thing)
    return sources
