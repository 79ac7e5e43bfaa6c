"""Prediction of a write's change, for the approver."""

import time
from functools import partial

from msgspec import field

from lineshaft.errors import LineshaftError, ToolError, WorkspaceError
from lineshaft.gate._authority import CallAuthority, CallWorkspace
from lineshaft.gate._bounded import Ending, bounded
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._execution import PathReach
from lineshaft.gate._invoke import invoke
from lineshaft.gate._pause_point import Files
from lineshaft.gate._run_info import RunInfo
from lineshaft.policy import Subject, asked_by_path
from lineshaft.tools import Tool
from lineshaft.trace import Redactor
from lineshaft.values import Call, Context, Done, Failure, Stage, Struct, beginning

_SECONDS = 10
_LONGEST = 20_000

_AGAIN = "make the call again, to be asked about it as it is"

_RESULT = "\0"
"""Begins the key of what a call would make of a path; a path alone is for what is on the disk."""


class PredictedChanges(Struct, frozen=True):
    """The change that a call would make."""

    diff: str = ""
    """A unified diff; empty where the change cannot be known."""

    files: Files = field(default_factory=dict[str, str | None])
    """What it would change, as it was then. Of a call that moves or deletes entries, also what it
    would make of each, by a key that is no path."""


async def predicted(
    run: RunInfo, entry: CallEntry, tool: Tool, subject: Subject
) -> PredictedChanges:
    """Return what a call would change.

    The call is made on a copy of the run's view whose changes never land.
    """
    if not tool.spec.staged or "staged" not in run.view.capabilities:
        return PredictedChanges()
    view = run.view_of(entry.call)
    try:
        copy = await view.fork()
        try:
            if not await _made(copy, run, entry, tool, subject):
                return PredictedChanges()
            new = _new_parts(await copy.diff(), await view.diff())
            files = await _files(copy, view, results=bool(tool.spec.entries))
        finally:
            await copy.discard()
    except LineshaftError:
        return PredictedChanges()
    return PredictedChanges(_cut(new, run.gate.redactor.acting), files)


async def must_be_as_predicted(
    run: RunInfo, entry: CallEntry, tool: Tool, subject: Subject, shown: Files
) -> None:
    """Refuse a call that was approved for files that are others since.

    What the run itself has changed does not count, so that two edits of a file can be approved. It
    counts for what is moved to a path that a rule asks about: the person was shown all of it.

    Args:
        run: The run.
        entry: The call, whose turn has come.
        tool: Its tool.
        subject: The call, as policy judged it.
        shown: The files, as its approver was shown them.

    Raises:
        ToolError: `E_STALE`, it names one of them.
    """
    view, name = run.view_of(entry.call), tool.name
    results = {key for key in shown if key.startswith(_RESULT)}
    files = {path: sha256 for path, sha256 in shown.items() if path not in results}
    asks = asked_by_path(run.policy_of(entry.call), subject)
    try:
        changed = [path for path, sha256 in files.items() if await _sha256(view, path) != sha256]
        own = {change.path for change in await view.changes()} if changed else set[str]()
    except WorkspaceError as error:
        raise ToolError.of(error) from error
    foreign = [path for path in changed if path not in own]
    if foreign:
        text = f"{foreign[0]!r} was changed from outside since {name} was shown for approval"
        raise ToolError("E_STALE", text, hint=_AGAIN)
    if results and any(map(asks, (*files, *subject.paths))):
        now = (await predicted(run, entry, tool, subject)).files
        made = (key for key in {**shown, **now} if key.startswith(_RESULT))
        differs = [key.removeprefix(_RESULT) for key in made if shown.get(key) != now.get(key)]
        if unshown := [path for path in differs if asks(path)]:
            text = f"{name} would make another {unshown[0]!r} than was shown for approval"
            raise ToolError("E_STALE", text, hint=_AGAIN)


async def _files(copy: Stage, view: Stage, *, results: bool) -> Files:
    """Return the files that only a copy of a view changes, and what becomes of them."""
    known = set(await view.changes())
    new = [change for change in await copy.changes() if change not in known]
    paths = [path for change in new for path in (change.path, change.moved_from) if path]
    files = {path: await _sha256(copy, path) for path in dict.fromkeys(paths)}
    made = {f"{_RESULT}{change.path}": change.sha256 for change in new} if results else {}
    return files | made


async def _sha256(view: Stage, path: str) -> str | None:
    found = await view.before(path)
    return None if found is None else found.sha256


async def _made(copy: Stage, run: RunInfo, entry: CallEntry, tool: Tool, subject: Subject) -> bool:
    """Make a call on a copy of the run's view; return whether it ended well."""
    in_reach = PathReach(run.policy_of(entry.call), subject)
    authority = CallAuthority(
        look=in_reach.sight,
        shows=in_reach.shows,
        along=in_reach.along,
        granted=frozenset(subject.paths),
    )
    context = Context(
        workspace=CallWorkspace(copy, authority),
        call_id=entry.id,
        run_id=run.run_id,
        key=entry.key,
        deadline=time.monotonic() + _SECONDS,
        dispatch=_nothing_further,
        notify=lambda kind, data: None,
        deps=run.gate.deps,
        reach=in_reach,
        python=run.gate.python,
    )
    ending = Ending()
    try:
        await bounded(
            partial(invoke, tool, entry.arguments, context), seconds=_SECONDS, ending=ending
        )
    finally:
        authority.over = True
    return ending.error is None and not ending.told_to_end


async def _nothing_further(call: Call) -> Done:
    return Failure("E_DENIED", f"{call.tool} is not called to see what another call would do")


def _new_parts(diff: str, before: str) -> str:
    """Return the files of a diff that another one has not, or has otherwise."""
    known = set(_parts(before))
    return "".join(part for part in _parts(diff) if part not in known)


def _parts(diff: str) -> list[str]:
    parts = f"\n{diff.rstrip()}".split("\ndiff --git ")[1:]
    return [f"diff --git {part}\n" for part in parts]


def _cut(diff: str, redactor: Redactor) -> str:
    """Return what is shown of a diff; only that is looked through for secrets."""
    kept = beginning(diff, _LONGEST, lines=True, secrets=redactor)
    shown = redactor.text(kept)
    more = len(diff) - len(kept)
    return f"{shown}\n[... {more:,} characters more ...]\n" if more else shown
