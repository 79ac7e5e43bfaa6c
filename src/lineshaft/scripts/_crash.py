"""The state of a run whose host died, from its record and its kept state together.

The record may lack the last moments before a death, which the kept state has; the kept state lacks
only reads.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime

from msgspec.structs import replace

from lineshaft.gate import PausePoint
from lineshaft.scripts._checkpoint import Checkpoint
from lineshaft.scripts._job import Job
from lineshaft.trace import Redactor, summarise
from lineshaft.values import CallError, CallRecord, Event, Failure, Finding, Finished, SavedRun

_WITHOUT_AN_END = ("cancelled", "unknown", "pending")


def after_crash(
    saved: SavedRun,
    events: Iterable[Event],
    *,
    findings: tuple[Finding, ...],
    redactor: Redactor,
) -> Checkpoint:
    """Return the state of a run whose host died.

    Args:
        saved: Its kept state.
        events: Its record.
        findings: The findings of its workspace's recovery.
        redactor: Makes errors fit to be recorded.
    """
    told = list(events)
    result = summarise(told)
    timed = Job.of(saved.run.document).seconds is not None
    ended = {each.call.id: each for each in saved.finished}
    unknown = {call.id for call in saved.unknown}
    learnt: dict[str, CallRecord] = {}
    for call in result.calls:
        if call.status not in _WITHOUT_AN_END:
            continue
        if call.id in ended:
            learnt[call.id] = _as_kept(call, ended[call.id], redactor)
        elif call.id in unknown:
            learnt[call.id] = replace(call, status="unknown", error=None)
    return Checkpoint(
        pause_point=PausePoint(pending=(), keys={}, for_the_run={}),
        calls=tuple(learnt.get(call.id, call) for call in result.calls),
        usage=result.usage,
        seconds_used=_worked(told) if timed else 0,
        duration_ms=result.duration_ms,
        findings=findings,
        engine_reason=result.engine_reason,
        learnt=tuple(learnt.values()),
    )


def _worked(events: Sequence[Event]) -> float:
    """Return the seconds between the events of a record, without waits for a person."""
    moments = [datetime.fromisoformat(event.at) for event in events]
    return sum(
        (moments[index] - moments[index - 1]).total_seconds()
        for index in range(1, len(events))
        if events[index].kind not in ("answer", "run_resumed", "run_finished")
    )


def _as_kept(call: CallRecord, kept: Finished, redactor: Redactor) -> CallRecord:
    done, error = kept.done, None
    if isinstance(done, Failure):
        message, hint = redactor.text(done.message), redactor.text(done.hint)
        error = CallError(code=done.code, message=message, hint=hint)
    return replace(
        call,
        status=done.status if isinstance(done, Failure) else "done",
        error=error,
        staged_after=kept.call.stage if kept.call.staged else None,
    )
