"""The point of a run at its suspension, at the end of a preview, or at a replay's divergence."""

from collections.abc import Collection, Mapping, Sequence

from msgspec import field

from lineshaft.gate._call_entry import CallEntry
from lineshaft.tools import Tool
from lineshaft.trace import Redactor
from lineshaft.values import (
    Answer,
    CallRecord,
    Difference,
    KeptCall,
    Pending,
    Struct,
    Verdict,
)

Files = Mapping[str, str | None]
"""Files by path, each with the hash of what is on the disk; None: no file is there. Keys that are
no paths are for what a call would make of some."""


class PausePoint(Struct, frozen=True, kw_only=True):
    """The state that the gate needs when the run goes on."""

    pending: tuple[Pending, ...]
    keys: Mapping[str, str]
    """Of the pending calls and of the containers around them, by their ids."""

    for_the_run: Mapping[str, Answer]
    """As `Asks.for_the_run`."""

    shown: Mapping[str, Files] = field(default_factory=dict[str, Files])
    """The changes of the pending calls, by their keys, as the approver was shown them."""

    schemas: Mapping[str, str] = field(default_factory=dict[str, str])
    """Digests of the input schemas of the pending calls' tools, by the calls' keys."""

    dropped: Collection[str] = ()
    """Keys of calls that the script gave up before they ended."""

    standing: Collection[str] = ()
    """Keys of the containers around the pending calls, which are executed again."""

    approved: Collection[str] = ()
    """Those of `standing` that a person had approved."""


def pause_point_of(
    entries: Sequence[CallEntry],
    pending: tuple[Pending, ...],
    *,
    standing: Sequence[CallEntry],
    for_the_run: Mapping[str, Answer],
    shown: Mapping[str, Files],
    dropped: Collection[str],
) -> PausePoint:
    """Return the point at which a run stands.

    Args:
        entries: Of the pending calls.
        pending: The pending calls.
        standing: Of the containers around them.
        for_the_run: As `PausePoint.for_the_run`.
        shown: As `PausePoint.shown`.
        dropped: As `PausePoint.dropped`.
    """
    return PausePoint(
        pending=pending,
        keys={entry.id: entry.key for entry in (*entries, *standing)},
        for_the_run=dict(for_the_run),
        shown=dict(shown),
        schemas={entry.key: entry.schema for entry in entries},
        dropped=tuple(dropped),
        standing=tuple(entry.key for entry in standing),
        approved=tuple(entry.key for entry in standing if entry.approved),
    )


def difference(call: CallRecord, expected: KeptCall | None, redactor: Redactor) -> Difference:
    """Return what a replay says of a call that is not recorded.

    Args:
        call: The call.
        expected: The first recorded one that the script has not made.
        redactor: Makes its arguments fit to be shown.
    """
    wanted = None
    message = f"{call.id} calls {call.tool}, which was not called like this"
    if expected is not None:
        wanted = CallRecord(
            id=expected.id,
            tool=expected.tool,
            arguments=redactor.arguments(None, expected.arguments),
            status="done",
        )
        message += f"; the record goes on with {expected.id}: {expected.tool}"
    return Difference(call=call, expected=wanted, message=message)


def acts_beyond_files(tool: Tool, verdict: Verdict, *, models: bool = False) -> bool:
    """Return whether a preview cannot make a call: it acts, or a person must say first.

    A tool that is given no context has no way to the run's view, and a server's tool uses none:
    what they write is on the disk at once.

    Args:
        tool: The tool.
        verdict: The verdict about it.
        models: Whether models may be asked.
    """
    spec = tool.spec
    if spec.needs_disk:
        return True
    if spec.effect == "write":
        return not (spec.staged or spec.container or (spec.confined and tool.contract.context))
    if spec.container or (models and spec.effect == "model"):
        return False
    return spec.effect != "read" or verdict.kind == "ask"
