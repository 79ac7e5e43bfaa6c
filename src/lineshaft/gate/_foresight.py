"""What a write would change, shown to whoever is asked whether it may."""

import time
from functools import partial

from lineshaft.errors import LineshaftError
from lineshaft.gate._authority import Lease, Leased
from lineshaft.gate._book import Entry
from lineshaft.gate._bounded import Ending, bounded
from lineshaft.gate._execution import Reached
from lineshaft.gate._frame import Frame
from lineshaft.policy import Subject
from lineshaft.tools import Tool
from lineshaft.tools._invoke import invoke
from lineshaft.values import Call, Context, Done, Failure, Stage

_SECONDS = 10
_LONGEST = 20_000


async def foreseen(frame: Frame, entry: Entry, tool: Tool, subject: Subject) -> str:
    """Return what a call would change as a unified diff; empty where nobody can know.

    The call is made on a copy of the run's view whose changes never land.
    """
    if not tool.spec.staged or "atomic" not in frame.view.capabilities:
        return ""
    try:
        copy = await frame.view.fork()
        try:
            made = await _made(copy, frame, entry, tool, subject)
            new = _new_parts(await copy.diff(), await frame.view.diff()) if made else ""
        finally:
            await copy.discard()
    except LineshaftError:
        return ""
    return _cut(frame.gate.redactor.text(new))


async def _made(copy: Stage, frame: Frame, entry: Entry, tool: Tool, subject: Subject) -> bool:
    """Make a call on a copy of the run's view; return whether it ended well."""
    in_reach = Reached(frame.gate.policy, subject)
    lease = Lease(look=in_reach.sight, granted=frozenset(subject.paths))
    context = Context(
        workspace=Leased(copy, lease),
        call_id=entry.id,
        run_id=frame.run_id,
        key=entry.key,
        deadline=time.monotonic() + _SECONDS,
        dispatch=_nothing_further,
        notify=lambda kind, data: None,
        deps=frame.gate.deps,
        reach=in_reach,
        python=frame.gate.python,
    )
    ending = Ending()
    try:
        await bounded(
            partial(invoke, tool, entry.arguments, context), seconds=_SECONDS, ending=ending
        )
    finally:
        lease.over = True
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


def _cut(diff: str) -> str:
    if len(diff) <= _LONGEST:
        return diff
    return f"{diff[:_LONGEST]}\n[... {len(diff) - _LONGEST:,} characters more ...]\n"
