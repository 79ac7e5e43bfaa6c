"""Undo of a run's landings: all its stages as one landing, whole or not at all."""

import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from lineshaft.errors import RunUnknown, StaleFile, StateError, StateExpired, WorkspaceError
from lineshaft.values import Change, Undone, first_few
from lineshaft.workspace._count import changed_lines
from lineshaft.workspace.disk import (
    KEPT_BYTES,
    PROJECT,
    Editor,
    EditorEdit,
    FileState,
    Place,
    Unsaved,
    is_gone,
    is_scarce,
    see,
)
from lineshaft.workspace.journal.failpoints import reached
from lineshaft.workspace.journal.folder import Journals
from lineshaft.workspace.journal.recovery import carry_out, others_in
from lineshaft.workspace.journal.sources import FromDisk, FromJournal
from lineshaft.workspace.journal.steps import Task
from lineshaft.workspace.journal.storage import Header, Item, Journal, Source

_TOLD = 20
_NOTHING = (
    "`lineshaft runs` lists the runs of this workspace; what commands changed cannot be undone"
)


def undo(
    journals: Journals,
    run_id: str,
    editor: Editor | None = None,
    *,
    project: str,
    confirm: Callable[[], None],
) -> Undone:
    """Take back all landed changes of a run; the caller holds the lock.

    Args:
        journals: Keep what was.
        run_id: The run.
        editor: The window that shows the files: what it has not saved counts, and where it shows a
            file as it was before, that is saved.
        project: The real path of the workspace's own folder.
        confirm: Called when all of them can be taken back, and before the first is.

    Raises:
        StaleFile: Some of the files were changed since; nothing was done.
        StateExpired: The time for which they were kept is over.
        RunUnknown: No changes of that run are known, or they are of another workspace.
        StateError: What a file was is no longer kept; nothing was done.
        WorkspaceError: It cannot be done; nothing was done.
    """
    landed = _landed(journals, run_id)
    _must_be_of(project, landed, run_id)
    items, stale = _together([journal.header.items for journal in landed])
    unsaved = _shown_in(editor)
    tasks, changed, already = _judged(items, unsaved)
    stale += changed
    if stale:
        named = first_few(stale, _TOLD, quoted=True)
        raise StaleFile(
            f"changed since run {run_id!r} landed: {named}; nothing was undone",
            hint="Take back those changes first, or edit the files by hand.",
        )
    reached("undo-judged")
    confirm()
    header = Header(
        id=journals.new_id(run_id),
        kind="undo",
        run_id=run_id,
        stage=0,
        items=tuple(task.item for task in tasks),
        undoes=tuple(journal.header.id for journal in landed),
    )
    journal = journals.commit(header, _sources(landed, header.items, run_id))
    changes = [_change(journal, item) for item in _of_their_own(header.items)]

    def save() -> None:
        edits = [
            EditorEdit(path=place.path, real=place.real, before=shown.sha256, after=shown.data)
            for place in already
            if (shown := unsaved.get(place.real)) is not None and shown.data is not None
        ]
        if editor is not None and edits:
            editor.edit(edits)

    carry_out(journals, journal, tasks, then=save)
    return Undone(changes, already=tuple(place.path for place in already))


def _shown_in(editor: Editor | None) -> Mapping[str, Unsaved]:
    """Return what an editor shows and has not saved now."""
    if editor is None:
        return {}
    editor.look_again()
    return editor.unsaved()


def _landed(journals: Journals, run_id: str) -> list[Journal]:
    """Return the journals of a run that can be taken back, the oldest first."""
    known = journals.of(run_id)
    undone = {kept.id for kept in known if kept.fate == "undone"}
    if any(journals.expired(kept) for kept in known if kept.id not in undone):
        raise StateExpired(
            f"the changes of run {run_id!r} can no longer be undone: the old contents are not kept"
        )
    live = [kept for kept in known if kept.id not in undone]
    if not live:
        what = "was undone already" if undone else "has landed no changes that are known here"
        raise RunUnknown(f"there is nothing to undo: run {run_id!r} {what}", hint=_NOTHING)
    found = [journals.read(kept) for kept in live]
    whole = [journal for journal in found if journal is not None]
    if len(whole) < len(found):
        raise StateError(f"the changes of run {run_id!r} cannot be undone: a journal is damaged")
    return sorted(whole, key=lambda journal: journal.header.stage)  # a clock may have gone back


def _must_be_of(project: str, landed: Sequence[Journal], run_id: str) -> None:
    """Refuse journals of another workspace, such as a person copies along with a state folder.

    Another mount may lead elsewhere by now: its files are taken back where they were changed.
    """
    for root in {item.place.root for journal in landed for item in journal.header.items}:
        if root.alias == PROJECT and root.real != project:
            raise RunUnknown(
                f"run {run_id!r} is one of another workspace: {root.real}",
                hint=f"undo it there, or with --workspace {shlex.quote(root.real)}",
            )


def _together(stages: Sequence[Sequence[Item]]) -> tuple[list[Item], list[str]]:
    """Return the items that take all stages back at once, and the changes between two of them."""
    first: dict[str, Item] = {}
    last: dict[str, FileState] = {}
    times: Counter[str] = Counter()
    went: dict[str, Place] = {}
    stale: list[str] = []
    for item in (item for stage in stages for item in stage):
        real = item.place.real
        if not item.before.same(last.get(real, item.before)):
            stale.append(item.place.path)
        first.setdefault(real, item)
        last[real] = item.after
        times[real] += 1
        if item.came is not None:
            went[item.came.real] = item.place
    back = [
        Item(item.place, last[real], item.before, _came(real, went, times))
        for real, item in first.items()
        if not item.before.same(last[real])
    ]
    return back, stale


def _came(real: str, went: dict[str, Place], times: Counter[str]) -> Place | None:
    """Return the new place of a file that was moved once and not touched again."""
    place = went.get(real)
    return place if place and times[real] == times[place.real] == 1 else None


def _judged(
    items: Sequence[Item], unsaved: Mapping[str, Unsaved]
) -> tuple[list[Task], list[str], list[Place]]:
    """Return the tasks, the places changed since, and those of files that are as before already."""
    going = {item.place.real for item in items if item.after.kind != "folder"}
    tasks: list[Task] = []
    stale: list[str] = []
    already: list[Place] = []
    for item in items:
        try:
            now = see(item.place, keep=0)
            shown = unsaved.get(item.place.real)
            if shown is not None and shown.data is not None and shown.sha256 == item.after.sha256:
                already.append(item.place)
            elif shown is not None:
                stale.append(item.place.path)
            elif now.thing.same(item.before):
                tasks.append(Task(item, now.mark))
                if item.before.kind == "folder" and item.after.kind != "folder":
                    stale += others_in(item.place, going)
            elif not now.thing.same(item.after):
                stale.append(item.place.path)
            elif item.after.kind != "folder":
                already.append(item.place)
        except WorkspaceError as error:
            if is_scarce(error) or is_gone(item.place):
                raise  # nobody changed anything
            stale.append(item.place.path)  # a folder on the way is none any longer
    return tasks, stale, already


def _sources(landed: Sequence[Journal], items: Iterable[Item], run_id: str) -> dict[str, Source]:
    sources: dict[str, Source] = {}
    lost: list[str] = []
    for item in items:
        if item.before.sha256 is not None:
            sources[item.before.sha256] = FromDisk(item.place, item.before)
    for item in items:
        sha256 = item.after.sha256
        if sha256 is not None and sha256 not in sources:
            holder = next((journal for journal in landed if journal.keeps(sha256)), None)
            if holder is None:
                lost.append(item.place.path)
            else:
                sources[sha256] = FromJournal(holder, sha256)
    if lost:
        named = first_few(lost, _TOLD, quoted=True)
        raise StateError(
            f"the kept content of {named} from before run {run_id!r} is damaged or gone;"
            " nothing was undone",
            hint="Make it as it was by hand, if you have a copy, then undo the rest. Else"
            f" `lineshaft show {run_id}` tells what the run changed.",
        )
    return sources


def _of_their_own(items: Sequence[Item]) -> Iterator[Item]:
    """Return all but the folders that come or go with what is in them, as a run tells its own."""
    above = {str(parent) for item in items for parent in PurePosixPath(item.place.path).parents}
    for item in items:
        kinds = {item.before.kind, item.after.kind}
        if kinds != {"folder", "missing"} or item.place.path not in above:
            yield item


def _change(journal: Journal, item: Item) -> Change:
    before, after = item.before, item.after
    added, removed = changed_lines(_content(journal, before), _content(journal, after))
    kind = "modified"
    if before.kind == "missing":
        kind = "created"
    elif after.kind == "missing":
        kind = "deleted"
    return Change(
        path=item.place.path, kind=kind, added=added, removed=removed, sha256=after.sha256
    )


def _content(journal: Journal, thing: FileState) -> bytes | None:
    if thing.sha256 is None or thing.size > KEPT_BYTES:
        return None
    return b"".join(journal.parts(thing.sha256))
