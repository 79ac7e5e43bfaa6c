"""The account of a run's calls: one record each, events for the sinks, counters."""

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

import pydantic_core

from lineshaft.trace import Recorder, Redactor
from lineshaft.values import (
    Arguments,
    Call,
    CallError,
    CallRecord,
    CallStatus,
    Done,
    EventKind,
    Failure,
    ToolSpec,
    Usage,
    Value,
)


@dataclass(slots=True, kw_only=True, eq=False)
class Entry:
    """What is known of one call while it is under way."""

    call: Call
    spec: ToolSpec | None = None
    arguments: Arguments
    """Exact; validated and with decided paths as far as the call has come."""

    shown: Mapping[str, object] | None = None
    """As recorded; made once the arguments are final."""

    rule: str = ""
    verdict: Mapping[str, object] | None = None
    """What policy said, as recorded."""

    key: str = ""
    started: float | None = None
    """`time.monotonic()` when the tool itself was started."""

    answered: bool = False
    """Its result was known: an earlier part of the run made it, and has its record."""

    refusal: Failure | None = None
    """Set where the call was refused, whatever becomes of the run after it."""

    status: CallStatus = "pending"
    duration_ms: float = 0
    error: CallError | None = None
    stage: int = 0
    """How many times changes had landed before it started."""

    staged: bool = False
    """It changed what its run keeps back until it lands."""

    kept_back: bool = False
    """All it did is such a change."""

    again: bool = False
    """It waited in an earlier part of the run, and the record has it already."""

    size: int | None = None
    """Of its result, in bytes."""

    beside: "Sequence[Entry]" = field(default=(), repr=False)
    """All calls that came of one call of a script, this one too, where there is middleware."""

    @property
    def id(self) -> str:
        """The call's id."""
        return self.call.id

    def weigh(self, done: Done) -> int:
        """Return the size of its result in bytes; that of a failure is none."""
        if self.size is None:
            self.size = 0 if isinstance(done, Failure) else _size(done)
        return self.size


class Book:
    """Keeps the entries of one run.

    Args:
        recorder: Makes and hands out events; None where nobody listens.
        redactor: Makes arguments fit to be shown.
        broken: Called with the reason when an event cannot be recorded.
    """

    def __init__(
        self,
        recorder: Recorder | None,
        redactor: Redactor,
        *,
        broken: Callable[[Exception], None],
    ) -> None:
        self._recorders = () if recorder is None else (recorder,)
        self._redactor = redactor
        self._broken = broken
        self.entries: dict[str, Entry] = {}
        """The calls of this part of the run, by id."""

        self._past: dict[str, CallRecord] = {}
        self._order: dict[str, None] = {}
        self.counts: Counter[str] = Counter()
        self.refused = 0
        self.bytes_in = 0
        self._dropped = 0

    @property
    def recording(self) -> bool:
        """Whether anybody listens."""
        return bool(self._recorders)

    def also(self, recorder: Recorder) -> None:
        """Have one more recorder note what comes from here on."""
        self._recorders += (recorder,)

    def open(self, call: Call) -> Entry:
        """Begin the entry of a call that has just arrived; one that comes again gets its own."""
        if not call.id or call.id in self._order:
            numbers = count(len(self._order) + self._dropped + 1)
            ids = (f"{call.id}d{number}" for number in numbers)
            call = replace(call, id=next(each for each in ids if each not in self._order))
        entry = Entry(call=call, arguments=call.arguments)
        self.entries[call.id] = entry
        self._order[call.id] = None
        return entry

    def go_on(self, records: Iterable[CallRecord], usage: Usage) -> None:
        """Begin with what an earlier part of the run has done.

        Args:
            records: Its calls, in order.
            usage: Its counters.
        """
        self._past = {record.id: record for record in records}
        self._order = dict.fromkeys(self._past)
        self.counts.update(usage.calls)
        self.refused, self.bytes_in = usage.refused, usage.bytes_in

    def take_place(self, entry: Entry, call_id: str) -> None:
        """Let a call be the one that waited under an id in an earlier part of the run."""
        del self.entries[entry.id], self._order[entry.id]
        self._past.pop(call_id, None)
        entry.call = replace(entry.call, id=call_id)
        entry.again = True
        self.entries[call_id] = entry

    def drop(self, entry: Entry) -> None:
        """Forget a call that has a record already."""
        del self.entries[entry.id], self._order[entry.id]
        self._dropped += 1

    def show(self, entry: Entry) -> Mapping[str, object]:
        """Return the entry's arguments as they may be recorded."""
        if entry.shown is None:
            entry.shown = self._redactor.arguments(entry.spec, entry.arguments)
        return entry.shown

    def note(self, kind: EventKind, call_id: str | None = None, **data: object) -> None:
        """Record an event; when that fails the run is told to end."""
        for recorder in self._recorders:
            try:
                recorder.note(kind, call_id, **data)
            except Exception as error:  # noqa: BLE001  a sink is the user's code
                self._recorders = ()
                self._broken(error)
                return

    def asked(self, entry: Entry) -> None:
        """Record that a call has come in, with its arguments as far as they are understood."""
        if not self._recorders or entry.again:
            return
        self.note(
            "call_asked",
            entry.id,
            tool=entry.spec.name if entry.spec else entry.call.tool,
            arguments=self.show(entry),
            origin=entry.call.origin,
            parent=entry.call.parent,
            effect=entry.spec.effect if entry.spec else None,
        )

    def start(self, entry: Entry) -> None:
        """Count and record the start of the tool itself."""
        entry.started = time.monotonic()
        self.counts[entry.spec.name if entry.spec else entry.call.tool] += 1
        self.note("call_started", entry.id)

    def close(self, entry: Entry, done: Done) -> None:
        """Record how a call ended."""
        size = 0
        if isinstance(done, Failure):
            entry.status = done.status
            message, hint = self._redactor.text(done.message), self._redactor.text(done.hint)
            entry.error = CallError(code=done.code, message=message, hint=hint)
            self.refused += done.status == "refused"
        else:
            entry.status = "done"
            size = entry.weigh(done)
            self.bytes_in += size
        if entry.started is not None:
            entry.duration_ms = (time.monotonic() - entry.started) * 1000
        if self._recorders:
            self.note(
                "call_finished",
                entry.id,
                status=entry.status,
                duration_ms=round(entry.duration_ms, 3),
                error=entry.error,
                bytes=size,
                staged_after=_staged_after(entry),
            )
        self.show(entry)
        entry.arguments = {}  # the exact ones are not kept beyond the call

    def shut(self) -> None:
        """Record nothing any more: the run is over."""
        self._recorders = ()

    def records(self) -> tuple[CallRecord, ...]:
        """Return one record a call, in the order in which they came."""
        return tuple(self._past.get(call_id) or self._record(call_id) for call_id in self._order)

    def _record(self, call_id: str) -> CallRecord:
        entry = self.entries[call_id]
        return _record(entry, self.show(entry))

    def usage(self, *, bytes_out: int) -> Usage:
        """Return the counters, given how many bytes a model would read."""
        return Usage(
            calls=dict(self.counts),
            refused=self.refused,
            bytes_in=self.bytes_in,
            bytes_out=bytes_out,
            bytes_kept=max(self.bytes_in - bytes_out, 0),
        )


def _record(entry: Entry, shown: Mapping[str, object]) -> CallRecord:
    return CallRecord(
        id=entry.id,
        tool=entry.spec.name if entry.spec else entry.call.tool,
        arguments=shown,
        status=entry.status,
        effect=entry.spec.effect if entry.spec else None,
        rule=entry.rule,
        duration_ms=round(entry.duration_ms, 3),
        error=entry.error,
        parent=entry.call.parent,
        staged_after=_staged_after(entry),
    )


def _staged_after(entry: Entry) -> int | None:
    return entry.stage if entry.kept_back else None


def _size(done: Value) -> int:
    return len(pydantic_core.to_json(done.value, inf_nan_mode="constants"))
