"""Recovery of landings whose process died: they are finished, or taken back.

Above: landing, undo, the folder workspace. Below: `journal/steps.py`. A landing whose journal is
whole is finished. A file is touched only if it has the content from before or after, and no other;
the others are named.
"""

import os
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from lineshaft.errors import LineshaftError, WorkspaceError
from lineshaft.values import Finding, Struct
from lineshaft.workspace.disk import (
    NOTHING,
    FileState,
    Folders,
    Place,
    SeenState,
    is_scarce,
    listing,
    see,
    told,
)
from lineshaft.workspace.journal.failpoints import reached
from lineshaft.workspace.journal.folder import Journals
from lineshaft.workspace.journal.steps import Task, apply, clean
from lineshaft.workspace.journal.storage import Item, Journal


class Judged(Struct, frozen=True):
    """The tasks left, and the places changed from outside."""

    tasks: tuple[Task, ...]
    strange: tuple[Item, ...]


def judge(items: Iterable[Item], *, back: bool = False) -> Judged:
    """Look at each place: it is as before, as after, in between, or changed from outside.

    Args:
        items: The items.
        back: Whether they take back a landing, which may not have come to the modes of its folders.

    Raises:
        WorkspaceError: The machine cannot look now.
    """
    tasks: dict[str, Task] = {}
    strange: dict[str, Item] = {}
    gone: set[str] = set()
    with Folders() as folders:
        for item in items:
            real = item.place.real
            now = _now(item.place, folders)
            if now is None:
                strange[real] = item
            elif now.thing.same(item.after):
                gone.add(real)
            elif now.thing.same(item.before) or _is_between(item, now.thing, back=back):
                tasks[real] = Task(item, now.mark)
            else:
                strange[real] = item
    _leave_folders(tasks, strange, gone)
    _leave_what_is_in(tasks, strange)
    return Judged(tuple(tasks.values()), tuple(strange.values()))


def _now(place: Place, folders: Folders) -> SeenState | None:
    """Return the state of a place; None where a folder on the way is gone."""
    try:
        return see(place, keep=0, folders=folders)
    except WorkspaceError as error:
        if is_scarce(error):
            raise  # nobody changed anything
        return None


def _leave_folders(tasks: dict[str, Task], strange: dict[str, Item], gone: set[str]) -> None:
    """Leave folders alone that are to go, but hold files that stay."""
    for real in sorted(tasks, reverse=True):
        item = tasks[real].item
        if item.before.kind != "folder" or item.after.kind == "folder" or not tasks[real].mark:
            continue
        going = gone | {place for place, task in tasks.items() if task.item.after.kind != "folder"}
        if others_in(item.place, going):
            strange[real] = tasks.pop(real).item


def _leave_what_is_in(tasks: dict[str, Task], strange: dict[str, Item]) -> None:
    """Leave out files in folders that will not exist."""
    missing = [real + os.sep for real, item in strange.items() if item.before.kind != "folder"]
    for real in [real for real in tasks if real.startswith(tuple(missing))]:
        strange[real] = tasks.pop(real).item


def others_in(place: Place, going: Collection[str]) -> list[str]:
    """Return the contents of a folder that is to go which do not go with it."""
    folder = place.real
    with told(place.path), listing(place) as entries:
        return [
            f"{place.path}/{entry.name}"
            for entry in entries
            if os.path.join(folder, entry.name) not in going  # noqa: PTH118  pathlib is slow
        ]


def _is_between(item: Item, now: FileState, *, back: bool) -> bool:
    """Whether a step of a landing may have left this: a place freed, a folder without mode."""
    kinds = {item.before.kind, item.after.kind}
    if "folder" in kinds and len(kinds) == 2 and now == NOTHING:
        return True
    return now.kind == "folder" and (
        item.after.kind == "folder" or (back and item.before.kind == "folder")
    )


def backwards(items: Sequence[Item]) -> list[Item]:
    """Return the tasks that take items back."""
    went: dict[str, Place] = {item.came.real: item.place for item in items if item.came is not None}
    return [item.back(went) for item in items]


def carry_out(
    journals: Journals,
    journal: Journal,
    tasks: Sequence[Task],
    *,
    again: bool = False,
    then: Callable[[], None] = lambda: None,
) -> None:
    """Carry out a journal, or take all of it back.

    Args:
        journals: The folder that keeps it.
        journal: The journal.
        tasks: Its tasks that are left.
        again: Whether this is not the first attempt.
        then: Does what of the journal is no task.

    Raises:
        WorkspaceError: It failed; the error says so where it cannot be taken back either. Or it is
            not the first attempt, and that it is over cannot be noted.
    """
    try:
        apply(journal, tasks)
        then()
    except LineshaftError as error:
        take_back(journals, journal, error)
        raise
    reached("applied")
    if again:
        clean(journal)
        clean(journal, back=True)
    try:
        journals.done(journal)
    except WorkspaceError:
        # All is on the disk, so a landing stands, and recovery notes it. Where it cannot either,
        # nothing may land: it would be taken for a part of this.
        if again:
            raise


def take_back(journals: Journals, journal: Journal, why: LineshaftError) -> tuple[Item, ...]:
    """Undo the steps done of a landing.

    Returns:
        The places left alone, because they were changed from outside.

    Raises:
        WorkspaceError: That is not possible either; the journal stays for recovery.
    """
    reached("taking-back")
    clean(journal)
    try:
        judged = judge(backwards(journal.header.items), back=True)
        apply(journal, judged.tasks, back=True)
    except LineshaftError as error:
        raise WorkspaceError(
            f"changes are half landed: {why.message}; and they could not be taken back:"
            f" {error.message}",
            hint="Remove the cause, then run `lineshaft doctor --recover`.",
        ) from error
    clean(journal, back=True)
    reached("taken-back")
    journals.drop(journal.path)
    return judged.strange


def finish(journals: Journals) -> list[Finding]:
    """Finish all interrupted landings; the caller holds the lock.

    Returns:
        The actions taken, and each file left alone.

    Raises:
        WorkspaceError: One can neither be finished nor taken back now.
        StateError: Its journal is of another version.
    """
    findings: list[Finding] = []
    for path in journals.unfinished():
        reached("recovery-found")
        journal = journals.load(path)
        if journal is None:
            findings.append(_without_journal(journals, path))
            continue
        findings += _finish(journals, journal)
    return findings


def _without_journal(journals: Journals, path: Path) -> Finding:
    if journals.put_damaged(path):
        return Finding(
            code="landing-damaged",
            level="warning",
            message="a landing was cut off, and its journal is damaged: its changes may be half"
            " made, and are neither finished nor taken back",
            hint="Compare the files with those that the interrupted run changed: `lineshaft runs`",
        )
    journals.drop(path)  # it was never whole, so no step of it was done
    return Finding(
        code="landing-dropped",
        level="info",
        message="a landing that had not begun was dropped: nothing was changed",
    )


def _finish(journals: Journals, journal: Journal) -> list[Finding]:
    header = journal.header
    judged = judge(header.items)
    lost = journal.lost()
    left_out = _left_out(journal, judged.tasks, lost)
    tasks = [task for task in judged.tasks if task.item not in left_out]
    reached("recovery-judged")
    what = f"stage {header.stage} of run {header.run_id}" if header.run_id else "a landing"
    if header.kind == "undo":
        what = f"the undoing of run {header.run_id}"
    try:
        carry_out(journals, journal, tasks, again=True)
    except LineshaftError as error:
        if journal.path.exists():
            raise
        text = f"{what} could not be finished and was taken back: {error.message}"
        return [Finding(code="landing-taken-back", level="warning", message=text)]
    text = f"{what} was finished: {len(tasks)} of {len(header.items)} changes were left"
    return [
        Finding(code="landing-finished", level="info", message=text),
        *(_left_alone(item) for item in judged.strange),
        *(_without_content(item) for item in left_out),
        *(_before_lost(item) for item in header.items if item.before.sha256 in lost),
    ]


def _left_out(journal: Journal, tasks: Sequence[Task], lost: Collection[str]) -> tuple[Item, ...]:
    """Return the changes whose content is lost, where all cannot be taken back for want of another.

    Without them the rest is finished: a journal that stayed would stop every landing after it.
    """
    wanting = _wanting(tasks, lost)
    if wanting and _wanting(judge(backwards(journal.header.items), back=True).tasks, lost):
        return wanting
    return ()


def _wanting(tasks: Sequence[Task], lost: Collection[str]) -> tuple[Item, ...]:
    return tuple(task.item for task in tasks if task.item.after.sha256 in lost)


def _left_alone(item: Item) -> Finding:
    return Finding(
        code="left-alone",
        level="warning",
        path=item.place.path,
        message=f"{item.place.path!r} was changed from outside after a crash: it is left alone",
        hint="Compare it with the run's own change: `lineshaft show RUN`",
    )


def _without_content(item: Item) -> Finding:
    return Finding(
        code="left-alone",
        level="warning",
        path=item.place.path,
        message=f"{item.place.path!r} is left alone: the content that it was to get is lost",
        hint="Make that change by hand: `lineshaft show RUN` tells it.",
    )


def _before_lost(item: Item) -> Finding:
    return Finding(
        code="before-lost",
        level="warning",
        path=item.place.path,
        message=f"what {item.place.path!r} was before is lost: another program wrote into the kept"
        " content",
        hint="An undo of the run cannot give it back. Keep a copy of the file as it is.",
    )
