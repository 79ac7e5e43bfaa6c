"""Finish what a process that died had begun to land, or take back what cannot be finished.

Above: landing, undo, the folder workspace. Below: `_apply.py`. A landing whose journal is whole is
finished. A file is touched only if it has the content from before or after, and no other; the
others are named.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from lineshaft.errors import LineshaftError, WorkspaceError
from lineshaft.values import Finding
from lineshaft.workspace._apply import Task, apply, clean
from lineshaft.workspace._disk import Folders
from lineshaft.workspace._failpoints import reached
from lineshaft.workspace._journal import Item, Journal
from lineshaft.workspace._journals import Journals
from lineshaft.workspace._mounts import Place
from lineshaft.workspace._things import NOTHING, Thing, see

_BACK = "-back"


@dataclass(frozen=True, slots=True)
class Judged:
    """What is to be done, and what somebody else has changed."""

    tasks: tuple[Task, ...]
    strange: tuple[Item, ...]


def judge(items: Iterable[Item]) -> Judged:
    """Look at each place: is it as before, as after, in between, or something else?"""
    tasks: list[Task] = []
    strange: list[Item] = []
    with Folders() as folders:
        for item in items:
            try:
                now = see(item.place, keep=0, folders=folders)
            except WorkspaceError:
                strange.append(item)  # a folder on the way is none any longer
                continue
            if now.thing.same(item.after):
                continue
            if now.thing.same(item.before) or _is_between(item, now.thing):
                tasks.append(Task(item, now.mark))
            else:
                strange.append(item)
    return Judged(tuple(tasks), tuple(strange))


def _is_between(item: Item, now: Thing) -> bool:
    """Whether a step of ours may have left this: a thing that made way, a folder without mode."""
    kinds = {item.before.kind, item.after.kind}
    if "folder" in kinds and len(kinds) == 2 and now == NOTHING:
        return True
    return now.kind == "folder" and item.after.kind == "folder"


def backwards(items: Sequence[Item]) -> list[Item]:
    """Return what takes items back."""
    went: dict[str, Place] = {item.came.real: item.place for item in items if item.came is not None}
    return [item.back(went) for item in items]


def carry_out(journals: Journals, journal: Journal, tasks: Sequence[Task]) -> None:
    """Do what a journal says, or take all of it back.

    Raises:
        WorkspaceError: It cannot be done; the error says so where it cannot be taken back either.
    """
    try:
        apply(journal, tasks)
    except LineshaftError as error:
        take_back(journals, journal, error)
        raise
    reached("applied")
    journals.done(journal)


def take_back(journals: Journals, journal: Journal, why: LineshaftError) -> tuple[Item, ...]:
    """Undo what was done of a landing.

    Returns:
        What was left alone, because somebody else has changed it.

    Raises:
        WorkspaceError: That is not possible either; the journal stays for recovery.
    """
    reached("taking-back")
    items = journal.header.items
    clean(journal, [Task(item, None) for item in items])
    judged = judge(backwards(items))
    try:
        apply(journal, judged.tasks, id=journal.header.id + _BACK)
    except LineshaftError as error:
        raise WorkspaceError(
            f"changes are half landed: {why.message}; and they could not be taken back:"
            f" {error.message}",
            hint="Remove the cause, then: lineshaft doctor --recover",
        ) from error
    clean(journal, judged.tasks, id=journal.header.id + _BACK)
    reached("taken-back")
    journals.drop(journal.path)
    return judged.strange


def finish(journals: Journals) -> list[Finding]:
    """Finish all landings that are half done; whoever calls holds the lock.

    Returns:
        What was done, and each file that was left alone.

    Raises:
        WorkspaceError: One can neither be finished nor taken back now.
        StateError: Its journal is of another version.
    """
    findings: list[Finding] = []
    for path in journals.unfinished():
        reached("recovery-found")
        journal = journals.load(path)
        if journal is None or journal.damaged():
            journals.drop(path)  # it was never whole, so nothing of it was done
            findings.append(
                Finding(
                    code="landing-dropped",
                    level="info",
                    message="a landing that had not begun was dropped: nothing was changed",
                )
            )
            continue
        findings += _finish(journals, journal)
    return findings


def _finish(journals: Journals, journal: Journal) -> list[Finding]:
    header = journal.header
    judged = judge(header.items)
    reached("recovery-judged")
    what = f"stage {header.stage} of run {header.run_id}" if header.run_id else "a landing"
    if header.kind == "undo":
        what = f"the undoing of run {header.run_id}"
    try:
        carry_out(journals, journal, judged.tasks)
    except LineshaftError as error:
        if journal.path.exists():
            raise
        text = f"{what} could not be finished and was taken back: {error.message}"
        return [Finding(code="landing-taken-back", level="warning", message=text)]
    clean(journal, [Task(item, None) for item in header.items])
    text = f"{what} was finished: {len(judged.tasks)} of {len(header.items)} changes were left"
    return [
        Finding(code="landing-finished", level="info", message=text),
        *(_left_alone(item) for item in judged.strange),
    ]


def _left_alone(item: Item) -> Finding:
    return Finding(
        code="left-alone",
        level="warning",
        path=item.place.path,
        message=f"{item.place.path!r} was changed after a crash by somebody else: it is left alone",
        hint="Compare it with what the run wanted: lineshaft show RUN",
    )
