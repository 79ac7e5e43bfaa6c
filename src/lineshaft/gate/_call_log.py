"""The log of a run's calls: the step of each for the run's log, a record each, counters."""

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import cast

from msgspec.structs import replace

from lineshaft.errors import RecordError, StateError
from lineshaft.gate._call_entry import CallEntry
from lineshaft.gate._turn_log import TORN, TurnLog
from lineshaft.trace import Recorder, Redactor
from lineshaft.values import (
    Call,
    CallError,
    CallRecord,
    Done,
    EventKind,
    Failure,
    KeptCall,
    KeptPause,
    KeptScript,
    LogRow,
    ModelUsage,
    ReplayInputs,
    RowKind,
    Shown,
    Usage,
    Verdict,
    as_dict,
    call_data,
    done_data,
    pause_data,
)

_LARGE = 1_000_000
"""Bytes of a result that is on the disk before its caller has it: no more than those wait."""

_MOST_VERDICTS = 100
_NOTHING: Mapping[str, object] = {}


class CallLog:
    """Appends the calls of one run to the run's log.

    Args:
        recorder: Takes the steps; None where nothing does.
        redactor: Makes arguments fit to be shown.
        broken: Called with the reason when a step cannot be recorded.
    """

    def __init__(
        self,
        recorder: Recorder | None,
        redactor: Redactor,
        *,
        broken: Callable[[Exception], None],
    ) -> None:
        self._recorder = recorder
        self._redactor = redactor
        self._broken = broken
        self.entries: dict[str, CallEntry] = {}
        """The calls of this segment of the run, by id."""

        self._past: dict[str, CallRecord] = {}
        self._order: dict[str, None] = {}
        self.counts: Counter[str] = Counter()
        self.refused = 0
        self.bytes_in = 0
        self.models: dict[str, ModelUsage] = {}
        self._dropped = 0
        self._verdicts: dict[tuple[str, ...], Mapping[str, object]] = {}
        self._begin: Mapping[str, object] | None = None
        """What the run was begun with, where it is only kept if the run pauses."""

        self.exact = False
        """Whether exact steps are kept: the run can be gone on with, or executed again."""

        self._keeps = False
        self.replays = False
        """A pause would be replayed: calls must come again in the same order."""

        self._unpausable = "nothing is kept of this run"
        self.turns = TurnLog(
            self._append_turn,
            wanted=lambda: self._recorder is not None and not self._too_much,
            broken=self._break,
        )
        self._seed = ""
        self._bytes = 0
        self._too_much = ""

    @property
    def recording(self) -> bool:
        """Whether anything takes the steps."""
        return self._recorder is not None and self._recorder.heard

    def keep(
        self,
        begin: Mapping[str, object] | None,
        *,
        unpausable: str,
        replays: bool,
        replay: ReplayInputs | None = None,
        calls: bool = True,
        seed: str = "",
    ) -> None:
        """Keep the exact steps of the run from here on.

        Args:
            begin: What it was begun with; None: an earlier segment of it has kept that.
            unpausable: Why it cannot wait for answers until it is resumed; empty where it can.
            replays: A pause would be replayed.
            replay: What its script takes from the world beside its calls.
            calls: False: nothing is kept of it, unless it pauses.
            seed: Of the scripts of its containers.
        """
        self._unpausable, self.replays, self._seed = unpausable, replays, seed
        if replay is not None:
            self.turns.begin(replay)
        self.exact = self._keeps = calls
        if not calls:
            self._begin = begin
        elif begin is not None:
            self._exactly("begin", begin)

    def close(self) -> None:
        """Keep no further exact steps of calls: the run's authority is over."""
        self.exact = False

    @property
    def torn(self) -> str:
        """Why the run cannot be executed again over what is kept; empty where it can."""
        return self._too_much or (TORN if self.turns.torn else "")

    def why_not_pause(self) -> str:
        """Return why the run cannot wait for answers until it is resumed; empty where it can."""
        if self._unpausable or not self.exact:
            return self._unpausable
        return (self.torn if self.replays else "") or self.turns.why_inner_cannot()

    def open(self, call: Call) -> CallEntry:
        """Begin the entry of a call that has just arrived; one that comes again gets its own."""
        if not call.id or call.id in self._order:
            number = len(self._order) + self._dropped + 1
            while (fresh := f"{call.id}d{number}") in self._order:
                number += 1
            call = replace(call, id=fresh)
        entry = CallEntry(call=call, arguments=call.arguments)
        self.entries[call.id] = entry
        self._order[call.id] = None
        return entry

    def go_on(self, records: Iterable[CallRecord], usage: Usage) -> None:
        """Begin with what an earlier segment of the run has done.

        Args:
            records: Its calls, in order.
            usage: Its counters.
        """
        self._past = {record.id: record for record in records}
        self._order = dict.fromkeys(self._past)
        self.counts.update(usage.calls)
        self.refused, self.bytes_in = usage.refused, usage.bytes_in
        self.models.update(usage.models)

    def spent(self, call_id: str, model: str, usage: ModelUsage) -> None:
        """Count and record what a request to a model has used."""
        self.models[model] = self.models.get(model, ModelUsage()).plus(usage)
        self.note("usage", call_id, model=model, **as_dict(usage))

    def take_place(self, entry: CallEntry, call_id: str) -> None:
        """Give a call the id under which it waited in an earlier segment of the run."""
        del self.entries[entry.id], self._order[entry.id]
        self._past.pop(call_id, None)
        entry.call = replace(entry.call, id=call_id)
        entry.again = True
        self.entries[call_id] = entry

    def drop(self, entry: CallEntry) -> None:
        """Forget a call that has a record already."""
        del self.entries[entry.id], self._order[entry.id]
        self._dropped += 1

    def show(self, entry: CallEntry) -> Mapping[str, object]:
        """Return the entry's arguments as they may be recorded."""
        if entry.shown is None:
            entry.shown = self._redactor.arguments(entry.spec, entry.arguments)
        return entry.shown

    def note(self, kind: EventKind, call_id: str | None = None, **data: object) -> None:
        """Record an event; when that fails the run is told to end."""
        if self._recorder is not None:
            try:
                self._recorder.note(kind, call_id, **data)
            except Exception as error:  # noqa: BLE001  a sink is the user's code
                self._break(error)

    def _break(self, error: Exception) -> None:
        if self._recorder is not None and self._recorder.of_sink is not error:
            self._recorder = None  # else the log goes on, and gets the run's end
        self._broken(error)

    def _step(
        self,
        kind: RowKind,
        entry: CallEntry,
        shown: tuple[Shown, ...],
        exact: Mapping[str, object] | None = None,
        *,
        durable: bool = False,
    ) -> Awaitable[None] | None:
        """Append one step of a call.

        Raises:
            StateError: What is exact of it cannot be kept.
        """
        recorder = self._recorder
        if recorder is None:
            return None
        call = entry.call
        row = recorder.row(kind, call.id, container=call.parent, shown=shown, exact=exact)
        try:
            written = recorder.append(row, durable=durable)
        except Exception as error:  # whatever it is, nothing goes on unrecorded
            if exact is not None and isinstance(error, StateError):
                raise
            self._break(error)
            return None
        try:
            recorder.tell(row)
        except Exception as error:  # noqa: BLE001  a sink is the user's code
            self._break(error)
        return written

    def _exactly(
        self,
        kind: RowKind,
        exact: Mapping[str, object],
        *,
        call_id: str | None = None,
        durable: bool = False,
    ) -> Awaitable[None] | None:
        """Append a step that shows nothing.

        Raises:
            StateError: It cannot be kept.
        """
        if self._recorder is None:
            return None
        row = self._recorder.row(kind, call_id, exact=exact)
        return self._recorder.append(row, durable=durable)

    def called(self, entry: CallEntry, *, started: bool = False) -> None:
        """Record that a call has come in, with its arguments and verdict as far as they are known.

        Args:
            entry: The call; told of once.
            started: The tool itself starts now.

        Raises:
            StateError: It cannot be kept.
        """
        if entry.told or self._recorder is None:
            return
        entry.told = True
        shown: list[Shown] = []
        spec, call = entry.spec, entry.call
        name = spec.name if spec else self._redactor.text(call.tool)
        if not entry.again:
            asked = {
                "tool": name,
                "arguments": self.show(entry),
                "origin": call.origin,
                "parent": call.parent,
                "effect": spec.effect if spec else None,
            }
            shown.append(("call_asked", asked))
        if entry.verdict is not None:
            shown.append(("verdict", self._verdict(entry.verdict)))
        if started:
            shown.append(("call_started", _NOTHING))
        exact = None
        too_much = self._too_much and spec is not None and spec.effect == "read"
        if self.exact and entry.key and spec is not None and not too_much:
            kept = KeptCall(
                key=entry.key,
                id=call.id,
                tool=spec.name,
                arguments=entry.arguments,
                origin=call.origin,
                parent=call.parent,
                effect=spec.effect,
                rule=entry.rule,
            )
            exact = call_data(kept)
        self._step("call", entry, tuple(shown), exact)

    def _verdict(self, verdict: Verdict) -> Mapping[str, object]:
        """Return a verdict as it is shown; a rule says the same to many calls."""
        said = (verdict.kind, verdict.rule, verdict.reason, verdict.source)
        shown = self._verdicts.get(said)
        if shown is None:
            clean = self._redactor.text
            shown = {
                "verdict": verdict.kind,
                "rule": clean(verdict.rule),
                "reason": verdict.reason and clean(verdict.reason),
                "source": verdict.source and clean(verdict.source),
            }
            if len(self._verdicts) < _MOST_VERDICTS:
                self._verdicts[said] = shown
        return shown

    def starting(self, entry: CallEntry, *, acts: bool) -> Awaitable[None] | None:
        """Record that the tool itself is about to start.

        Args:
            entry: The call.
            acts: It may do something at once that is not undone by forgetting the run.

        Returns:
            What to wait for before it starts; None: nothing.

        Raises:
            StateError: It cannot be kept.
        """
        started: tuple[Shown, ...] = (("call_started", _NOTHING),)
        if acts and self.exact:
            self.called(entry)
            return self._step("started", entry, started, _NOTHING, durable=True)
        if entry.told:
            self._step("started", entry, started)
        else:
            self.called(entry, started=True)
        return None

    def started(self, entry: CallEntry) -> None:
        """Count a call whose tool starts now."""
        entry.started = time.monotonic()
        if not entry.counted:
            self.counts[entry.name] += 1

    def end(self, entry: CallEntry, done: Done, *, keep: bool = True) -> Awaitable[None] | None:
        """Record how a call ended; a second time nothing.

        Args:
            entry: The call.
            done: How it ended.
            keep: Whether its script saw that.

        Returns:
            What to wait for before the result is handed over; None: nothing.

        Raises:
            StateError: It cannot be kept.
        """
        if entry.ended:
            return None
        entry.ended = True
        self.turns.forget(entry)
        size = 0
        if isinstance(done, Failure):
            entry.status = done.status
            message, hint = self._redactor.text(done.message), self._redactor.text(done.hint)
            entry.error = CallError(code=done.code, message=message, hint=hint)
            self.refused += done.status == "refused"
        else:
            entry.status = "done"
            size = entry.weigh(done)
            self.bytes_in += 0 if entry.weighed else size
        if entry.started is not None:
            entry.duration_ms = (time.monotonic() - entry.started) * 1000
        shown = {
            "status": entry.status,
            "duration_ms": round(entry.duration_ms, 3),
            "error": None if entry.error is None else as_dict(entry.error),
            "bytes": size,
            "staged_after": entry.staged_after,
        }
        self.show(entry)
        exact, durable = self._exact_end(entry, done) if keep else (None, False)
        self.called(entry)
        entry.arguments = {}  # the exact ones are not kept beyond the call
        ended: tuple[Shown, ...] = (("call_finished", shown),)
        written = self._step("ended", entry, ended, exact, durable=durable)
        return written if durable else None

    def _exact_end(self, entry: CallEntry, done: Done) -> tuple[Mapping[str, object] | None, bool]:
        """Return what is kept of a call's end, and whether that has to be durable.

        A call that did not act counts as a read.
        """
        if not (self.exact and entry.key):
            return None, False
        spec = entry.spec
        ran = entry.started is not None or entry.refusal is None
        effect = spec.effect if spec and ran else "read"
        if effect == "read" and not self._has_room(entry.weigh(done)):
            return None, False
        call: dict[str, object] = {}
        if spec is None or effect != spec.effect:
            call["effect"] = effect
        if entry.staged:
            call["staged"] = True
        if entry.stage:
            call["stage"] = entry.stage
        acted = not (effect == "read" or entry.staged)
        return {"call": call, "done": done_data(done)}, acted or self._is_large(entry, done)

    def _is_large(self, entry: CallEntry, done: Done) -> bool:
        """Return whether a result is waited for until it is written: few of them fit in memory."""
        kept = self._recorder is not None and not self._recorder.holds_back
        return kept and entry.weigh(done) > _LARGE

    def _has_room(self, size: int) -> bool:
        if self._too_much or self._recorder is None:
            return False
        self._bytes += size
        most = self._recorder.most_bytes
        if self._bytes > most:
            self._too_much = f"it read more than {most / 1e6:g} MB"
            self._recorder.drop_results()
        return not self._too_much

    def merged(self, entry: CallEntry) -> None:
        """Record that the changes of a container are those of what stands around it.

        Raises:
            StateError: It cannot be kept.
        """
        if self.exact and self._recorder is not None:
            self._recorder.append(self._recorder.row("merged", entry.id, exact=_NOTHING))

    def landing(self, stage: int, layers: Sequence[str] = ()) -> Awaitable[None] | None:
        """Record that changes are about to land.

        Args:
            stage: How many landings came before.
            layers: Ids of the containers whose changes land, beside those of the run itself.

        Returns:
            What to wait for before they do; None: nothing.
        """
        if not self._lands_on_disk:
            return None
        return self._exactly("landing", {"stage": stage, "layers": layers}, durable=True)

    def landed(self, stage: int) -> None:
        """Record that changes have landed; where that fails, the next step says so."""
        if self._lands_on_disk:
            with suppress(StateError, RecordError):
                self._exactly("landed", {"stage": stage})

    @property
    def _lands_on_disk(self) -> bool:
        """Whether landings are recorded: also the last one, after the run's authority is over."""
        return self._keeps and self._recorder is not None and not self._recorder.holds_back

    def script_begins(
        self,
        entry: CallEntry,
        *,
        earlier: KeptScript | None,
        engine: str,
        identity: Mapping[str, str],
        source: str,
        unpausable: str,
    ) -> ReplayInputs | None:
        """Record that a container executes a script; return the script's inputs beside its calls.

        Args:
            entry: The container's call.
            earlier: What an earlier segment of the run has kept of the script.
            engine: Name of the engine.
            identity: Of the engine.
            source: The text of the script.
            unpausable: Why the run cannot pause in the middle of it; empty where it can.

        Returns:
            None: they are not kept.

        Raises:
            StateError: It cannot be kept.
        """
        if not self.exact or self._recorder is None:
            return None
        self.called(entry)
        return self.turns.begin_inner(
            entry,
            seed=self._seed,
            earlier=earlier,
            begins={"engine": engine, "identity": dict(identity), "source": source},
            unpausable=unpausable,
        )

    def _append_turn(self, exact: Mapping[str, object], call_id: str | None) -> None:
        self._exactly("turn", exact, call_id=call_id)

    def resumed(self, answers: int, scripts: Collection[str] = ()) -> None:
        """Record that the run goes on, and from which turn of its script.

        Args:
            answers: How many were given.
            scripts: Keys of the containers whose scripts go on from their turns.
        """
        recorder = self._recorder
        if recorder is None:
            return
        exact = {**self.turns.so_far, "scripts": list(scripts)}
        shown = recorder.redacted({"answers": answers})
        row = recorder.row("resumed", shown=(("run_resumed", shown),), exact=exact)
        recorder.append(row)
        self._tell(recorder, row)

    async def paused(self, pause: KeptPause, shown: Sequence[tuple[EventKind, object]]) -> None:
        """Record where the run stands, and give it up.

        Args:
            pause: Where.
            shown: Its events, with their data; told once it is on the disk.

        Raises:
            StateError: It cannot be kept.
        """
        recorder = self._recorder
        if recorder is None:
            return
        self.turns.flush()
        if self._begin is not None:
            recorder.append(recorder.row("begin", exact=self._begin))
        row = recorder.row(
            "checkpoint",
            shown=_redacted(recorder, shown),
            exact=pause_data(pause),
            blobs=pause.blobs,
        )
        written = recorder.append(row, durable=True)
        if written is not None:
            await written
        self._tell(recorder, row)

    async def over(
        self,
        shown: Sequence[tuple[EventKind, object]],
        *,
        end: Mapping[str, object] | None,
        kept: bool,
    ) -> None:
        """Record the end of the run.

        Args:
            shown: Its events, with their data.
            end: What it came to, to compare a replay with; None: it cannot be replayed.
            kept: Exact steps of it were kept.

        Raises:
            StateError: It cannot be kept.
        """
        recorder = self._recorder
        if recorder is None:
            return
        self.turns.flush()
        exact = {} if end is None or self.torn or not kept else {"end": end}
        row = recorder.row("end", shown=_redacted(recorder, shown), exact=exact)
        try:
            written = recorder.append(row)
        finally:
            self._tell(recorder, row)
        if kept and written is not None:
            await written

    def _tell(self, recorder: Recorder, row: LogRow) -> None:
        try:
            recorder.tell(row)
        except Exception as error:  # noqa: BLE001  a sink is the user's code
            self._break(error)

    def shut(self) -> None:
        """Record nothing any more: the run is over."""
        self._recorder = None

    def records_in(self, container: str) -> tuple[CallRecord, ...]:
        """Return one record for each call that a container has made.

        Args:
            container: The id of its call.
        """
        inside = (e.id for e in self.entries.values() if e.call.parent == container)
        now = (self._record(call_id) for call_id in inside)
        return (*(each for each in self._past.values() if each.parent == container), *now)

    def records(self) -> tuple[CallRecord, ...]:
        """Return one record a call, in the order in which they came."""
        return tuple(self._past.get(call_id) or self._record(call_id) for call_id in self._order)

    def _record(self, call_id: str) -> CallRecord:
        entry = self.entries[call_id]
        return entry.record(self.show(entry))

    def usage(self, *, bytes_out: int) -> Usage:
        """Return the counters, given how many bytes a model would read."""
        return Usage(
            calls=dict(self.counts),
            refused=self.refused,
            bytes_in=self.bytes_in,
            bytes_out=bytes_out,
            bytes_kept=max(self.bytes_in - bytes_out, 0),
            models=dict(self.models),
        )


def _redacted(recorder: Recorder, events: Sequence[tuple[EventKind, object]]) -> tuple[Shown, ...]:
    return tuple(
        (kind, recorder.redacted(cast("Mapping[str, object]", data))) for kind, data in events
    )
