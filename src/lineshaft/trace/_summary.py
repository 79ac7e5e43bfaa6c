"""Conversion of a result to the data of its last event, and of events back to a result."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TypeVar, cast, get_args

from msgspec import ValidationError, convert, field, to_builtins
from msgspec.structs import replace

from lineshaft.errors import RecordError
from lineshaft.values import (
    CallError,
    CallRecord,
    CallStatus,
    Change,
    Effect,
    Event,
    Finding,
    ModelUsage,
    Pending,
    RunError,
    RunResult,
    RunStatus,
    Struct,
    Usage,
)

T = TypeVar("T")
Data = Mapping[str, object]

VALUE_BYTES = 50_000
"""A value whose JSON is longer is recorded by its size and beginning."""

_BEGINNING = 2_000
_IN_OTHER_EVENTS = ("run_id", "stdout", "stderr", "calls", "changes", "dropped")
_STATUSES = frozenset(get_args(RunStatus))


def result_data(result: RunResult) -> dict[str, object]:
    """Return the data of `run_finished` for a result; calls, output and changes have own events."""
    data = replace(result, calls=(), changes=(), dropped=()).to_dict()
    for key in _IN_OTHER_EVENTS:
        del data[key]
    text = json.dumps(result.value, ensure_ascii=False, separators=(",", ":"), default=str)
    size = len(text.encode("utf-8", "surrogatepass"))
    if size > VALUE_BYTES:
        data["value"] = {"bytes": size, "beginning": text[:_BEGINNING]}
    return data


def summarise(events: Iterable[Event]) -> RunResult:
    """Return the result of a run, as far as its record has it.

    Output is its recorded part, contents among arguments are sizes and hashes. Of several
    ends, as of a run that paused and was resumed, the last one counts. A record that ends before
    its run did gives status `error` with code `E_RECORD`; calls that had started by then are
    `unknown`, and so are those that may have started when the host died.

    Raises:
        RecordError: There is no event, events are of several runs, or one lacks its data.
    """
    told = list(events)
    runs = {event.run_id for event in told}
    if len(runs) != 1:
        raise RecordError(f"a record has events of one run; these are of {len(runs)}")
    summary = _Summary(runs.pop())
    event = told[0]
    try:
        for event in told:
            _TELLERS.get(event.kind, _nothing)(summary, event)
        result = summary.result()
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise RecordError(
            f"event {event.seq} ({event.kind}) of run {event.run_id!r} lacks a field: {error}"
        ) from error
    try:
        convert(to_builtins(replace(result, value=None)), RunResult)
    except (TypeError, ValidationError) as error:
        raise RecordError(
            f"the record of run {event.run_id!r} has what no run writes: {error}",
            hint="another program changed it; `lineshaft undo` needs no record",
        ) from error
    return result


class _Summary(Struct):
    """The facts in the events so far."""

    run_id: str
    calls: dict[str, CallRecord] = field(default_factory=dict[str, CallRecord])
    started: dict[str, str] = field(default_factory=dict[str, str])
    let_in: set[str] = field(default_factory=set[str])
    output: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    changes: tuple[Change, ...] = ()
    dropped: tuple[Change, ...] = ()
    engine: str = ""
    end: Data | None = None
    bytes_in: int = 0
    models: dict[str, ModelUsage] = field(default_factory=dict[str, ModelUsage])

    def change(self, event: Event, **changes: object) -> None:
        """Add to the facts about a call."""
        key = event.call_id or ""
        self.calls[key] = replace(self.calls[key], **cast("dict[str, str]", changes))

    def result(self) -> RunResult:
        """Put it together."""
        end = self.end or _unfinished(self)
        printed = {stream: "".join(texts) for stream, texts in self.output.items()}
        pending = _all(Pending, end.get("pending"))
        return RunResult(
            run_id=self.run_id,
            status=cast("RunStatus", end["status"]),
            engine=str(end.get("engine") or self.engine),
            engine_reason=str(end.get("engine_reason", "")),
            duration_ms=float(cast("float", end.get("duration_ms", 0))),
            value=end.get("value"),
            stdout=printed.get("stdout", ""),
            stderr=printed.get("stderr", ""),
            truncated=cast("Mapping[str, int]", end.get("truncated", {})),
            error=_one(RunError, end.get("error")),
            findings=_all(Finding, end.get("findings")),
            calls=tuple(self._ended(call, pending) for call in self.calls.values()),
            changes=self.changes,
            landed=bool(end.get("landed", False)),
            dropped=self.dropped,
            pending=pending,
            expires_at=cast("str | None", end.get("expires_at")),
            usage=_counters(end.get("usage")) or self._usage(),
        )

    def _ended(self, call: CallRecord, pending: tuple[Pending, ...]) -> CallRecord:
        """Set the status of a call without an end.

        The last events of a host that died are missing: calls that it allowed may have started.
        """
        if call.status != "pending" or call.id in {each.id for each in pending}:
            return call
        error = cast("Data", (self.end or {}).get("error") or {})
        died = error.get("code") == "E_INTERRUPTED" and call.effect not in (None, "read")
        started = call.id in self.started or (died and call.id in self.let_in)
        return replace(call, status="unknown" if started else "cancelled")

    def _usage(self) -> Usage:
        calls = Counter(self.started.values())
        refused = sum(call.status == "refused" for call in self.calls.values())
        return Usage(calls=dict(calls), refused=refused, bytes_in=self.bytes_in, models=self.models)


def _unfinished(summary: _Summary) -> Data:
    message = f"the record of run {summary.run_id!r} ends before the run did"
    return {"status": "error", "error": {"code": "E_RECORD", "message": message}}


def _run_started(summary: _Summary, event: Event) -> None:
    summary.engine = str(event.data.get("engine", ""))


def _run_resumed(summary: _Summary, event: Event) -> None:
    """The run goes on: its script is executed again, and prints again what it printed."""
    summary.end = None
    summary.output.clear()


def _call_asked(summary: _Summary, event: Event) -> None:
    """A call of a resumed run that is asked again keeps its place, and the rule that it has."""
    key, data = event.call_id or "", event.data
    before = summary.calls.get(key)
    summary.calls[key] = CallRecord(
        id=key,
        tool=str(data["tool"]),
        arguments=cast("Data", data["arguments"]),
        status="pending",
        effect=cast("Effect | None", data.get("effect")),
        rule="" if before is None else before.rule,
        parent=cast("str | None", data.get("parent")),
    )


def _verdict(summary: _Summary, event: Event) -> None:
    summary.change(event, rule=event.data["rule"])
    if event.data.get("verdict") == "allow":
        summary.let_in.add(event.call_id or "")


def _answer(summary: _Summary, event: Event) -> None:
    if event.data.get("allow"):
        summary.let_in.add(event.call_id or "")


def _call_started(summary: _Summary, event: Event) -> None:
    key = event.call_id or ""
    summary.started[key] = summary.calls[key].tool


def _call_finished(summary: _Summary, event: Event) -> None:
    data = event.data
    summary.change(
        event,
        status=cast("CallStatus", data["status"]),
        duration_ms=data.get("duration_ms", 0),
        error=_one(CallError, data.get("error")),
        staged_after=data.get("staged_after"),
    )
    summary.bytes_in += int(cast("int", data.get("bytes", 0)))


def _output(summary: _Summary, event: Event) -> None:
    summary.output.setdefault(str(event.data["stream"]), []).append(str(event.data["text"]))


def _usage(summary: _Summary, event: Event) -> None:
    data = dict(event.data)
    name, spent = str(data.pop("model")), _one(ModelUsage, data) or ModelUsage()
    summary.models[name] = summary.models.get(name, ModelUsage()).plus(spent)


def _counters(data: object) -> Usage | None:
    if data is None:
        return None
    told = dict(cast("Data", data))
    models = cast("Mapping[str, Data]", told.pop("models", {}))
    spent = {name: _one(ModelUsage, each) or ModelUsage() for name, each in models.items()}
    return _one(Usage, {**told, "models": spent})


def _changes(summary: _Summary, event: Event) -> None:
    summary.changes = _all(Change, event.data["changes"])
    summary.dropped = _all(Change, event.data.get("dropped", ()))


def _ends(summary: _Summary, event: Event) -> None:
    if event.data["status"] not in _STATUSES:
        raise ValueError(f"status {event.data['status']!r} is unknown")
    summary.end = event.data


def _nothing(summary: _Summary, event: Event) -> None:
    """Events for observers do not change the result."""


_TELLERS: dict[str, Callable[[_Summary, Event], None]] = {
    "run_started": _run_started,
    "run_paused": _ends,
    "run_resumed": _run_resumed,
    "call_asked": _call_asked,
    "verdict": _verdict,
    "answer": _answer,
    "call_started": _call_started,
    "call_finished": _call_finished,
    "output": _output,
    "usage": _usage,
    "changes": _changes,
    "run_finished": _ends,
}


def _one(kind: Callable[..., T], data: object) -> T | None:
    return None if data is None else kind(**cast("dict[str, object]", data))


def _all(kind: Callable[..., T], data: object) -> tuple[T, ...]:
    return tuple(kind(**each) for each in cast("list[dict[str, object]]", data or []))
