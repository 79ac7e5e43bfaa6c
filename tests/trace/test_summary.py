"""A result, its events, and the result again."""

import json
from collections.abc import Iterable
from dataclasses import asdict, replace

import pytest

from lineshaft.errors import RecordError
from lineshaft.trace import Recorder, Redactor, result_data, summarise
from lineshaft.values import (
    CallError,
    CallRecord,
    Change,
    Event,
    EventKind,
    Finding,
    Pending,
    RunError,
    RunResult,
    Usage,
)

RESULT = RunResult(
    run_id="run-1",
    status="error",
    engine="wasm",
    engine_reason="nothing it lacks",
    duration_ms=12.5,
    value={"rows": [1, None, "x"]},
    stdout="one\ntwo\n",
    stderr="oh\n",
    truncated={"stdout": 7},
    error=RunError(code="E_GUARD", message="no", line=3, hint="try", traceback="line 3"),
    findings=(Finding(code="unused", message="m", line=1, column=2),),
    calls=(
        CallRecord(
            id="c1",
            tool="read_file",
            arguments={"path": "a"},
            status="done",
            effect="read",
            rule="mode:auto",
            duration_ms=1.5,
        ),
        CallRecord(
            id="c2",
            tool="nobody",
            arguments={},
            status="refused",
            rule="builtin:unknown-tool",
            error=CallError(code="E_UNKNOWN_TOOL", message="no such tool", hint="look"),
            parent="c1",
        ),
        CallRecord(
            id="c3", tool="deploy", arguments={}, status="pending", effect="external", rule="prod"
        ),
    ),
    changes=(Change(path="a", kind="moved", moved_from="b", added=1, sha256="00", stage=1),),
    landed=True,
    pending=(Pending(id="c3", tool="deploy", arguments={}, reason="mind", rule="prod"),),
    expires_at="2031-01-01T00:00:00Z",
    usage=Usage(calls={"read_file": 1}, refused=1, bytes_in=9, bytes_out=4, bytes_kept=5),
)


def events_of(result: RunResult) -> list[Event]:
    """Note what a run notes; events pass through JSON as they do in a file."""
    seen: list[Event] = []
    record = Recorder(result.run_id, [seen.append], Redactor())
    record.note("run_started", name="x.py", engine="auto", mode="auto", origin="code", limits={})
    for call in result.calls:
        record.note(
            "call_asked",
            call.id,
            tool=call.tool,
            arguments=call.arguments,
            origin="script",
            parent=call.parent,
            effect=call.effect,
        )
        record.note("verdict", call.id, verdict="allow", rule=call.rule, reason="")
        if call.status in ("done", "failed", "unknown"):
            record.note("call_started", call.id)
            record.note("progress", call.id, done=1, total=2, text="half")
        if call.status not in ("pending", "unknown"):
            record.note(
                "call_finished",
                call.id,
                status=call.status,
                duration_ms=call.duration_ms,
                error=call.error,
                bytes=9,
            )
    for stream, text in (("stdout", result.stdout), ("stderr", result.stderr)):
        for line in text.splitlines(keepends=True):
            record.note("output", stream=stream, text=line)
    record.note("changes", changes=[asdict(change) for change in result.changes])
    record.note("run_finished", None, **result_data(result))
    return [Event(**json.loads(json.dumps(asdict(event)))) for event in seen]


def test_a_result_comes_back_whole_from_its_record() -> None:
    assert summarise(events_of(RESULT)) == RESULT


def test_a_small_successful_result_comes_back_too() -> None:
    result = RunResult(run_id="r", status="success", value=2)
    assert summarise(events_of(result)) == replace(result, engine="auto")


def test_a_large_value_is_recorded_by_its_size_and_beginning() -> None:
    value = ["x" * 10] * 10_000
    found = summarise(events_of(replace(RESULT, value=value))).value
    text = json.dumps(value, separators=(",", ":"))
    assert found == {"bytes": len(text), "beginning": text[:2_000]}


def until(events: Iterable[Event], kind: EventKind, call_id: str | None = None) -> list[Event]:
    told: list[Event] = []
    for event in events:
        told.append(event)
        if event.kind == kind and event.call_id == call_id:
            break
    return told


def test_a_record_that_ends_early_says_so_and_what_it_knows() -> None:
    result = summarise(until(events_of(RESULT), "call_started", "c1"))
    assert result.status == "error"
    assert result.error == RunError(
        code="E_RECORD", message="the record of run 'run-1' ends before the run did"
    )
    assert [(call.id, call.status) for call in result.calls] == [("c1", "unknown")]
    assert result.usage == Usage(calls={"read_file": 1})
    assert result.engine == "auto"


def test_a_call_that_never_started_when_the_record_ends_was_cancelled() -> None:
    result = summarise(until(events_of(RESULT), "verdict", "c3"))
    assert [call.status for call in result.calls] == ["done", "refused", "cancelled"]
    assert (result.usage.refused, result.usage.bytes_in) == (1, 18)


@pytest.mark.parametrize(
    ("event", "message"),
    [
        (Event(run_id="r", seq=7, at="", kind="verdict", call_id="c9"), r"event 7 \(verdict\)"),
        (Event(run_id="r", seq=1, at="", kind="call_asked", call_id="c"), "'tool'"),
        (Event(run_id="r", seq=1, at="", kind="run_finished"), "'status'"),
        (
            Event(run_id="r", seq=1, at="", kind="run_finished", data={"status": "party"}),
            "status 'party' is unknown",
        ),
        (Event(run_id="r", seq=1, at="", kind="changes", data={"changes": [7]}), "changes"),
        (Event(run_id="r", seq=1, at="", kind="changes", data={"changes": 7}), "changes"),
        (
            Event(
                run_id="r",
                seq=1,
                at="",
                kind="run_finished",
                data={"status": "error", "error": "no"},
            ),
            "run_finished",
        ),
    ],
)
def test_an_event_that_lacks_its_data_is_named(event: Event, message: str) -> None:
    with pytest.raises(RecordError, match=message):
        summarise([event])


@pytest.mark.parametrize(
    ("kind", "data", "place"),
    [
        ("call_finished", {"status": "\x1b[31m"}, r"calls\[0\]\.status"),
        ("call_finished", {"status": "done", "duration_ms": None}, "duration_ms"),
        ("call_finished", {"status": "failed", "error": {"code": "E", "message": 1}}, "message"),
        ("verdict", {"rule": [7]}, "rule"),
        ("call_asked", {"tool": "x", "arguments": 1.5}, "arguments"),
        ("call_asked", {"tool": "x", "arguments": {}, "parent": {"a": 1}}, "parent"),
        ("run_finished", {"status": "error", "usage": {"calls": {"x": []}}}, "usage"),
        ("run_finished", {"status": "error", "usage": {"models": None}}, "lacks"),
        ("run_finished", {"status": "error", "truncated": [1]}, "truncated"),
    ],
)
def test_a_record_with_what_no_run_writes_is_refused(
    kind: EventKind, data: dict[str, object], place: str
) -> None:
    """Readers may so show all of it: a store may have come from elsewhere."""
    begun = Event(
        run_id="r",
        seq=1,
        at="",
        kind="call_asked",
        call_id="c",
        data={"tool": "x", "arguments": {}},
    )
    with pytest.raises(RecordError, match=place):
        summarise([begun, Event(run_id="r", seq=2, at="", kind=kind, call_id="c", data=data)])


def test_events_of_no_run_or_of_several_are_refused() -> None:
    with pytest.raises(RecordError, match="these are of 0"):
        summarise([])
    with pytest.raises(RecordError, match="these are of 2"):
        summarise([*events_of(RESULT), *events_of(replace(RESULT, run_id="run-2"))])


def parts_of(run: str = "run-1") -> tuple[list[Event], Recorder]:
    """Return a list, and a recorder that fills it."""
    seen: list[Event] = []
    return seen, Recorder(run, [seen.append], Redactor())


def asks(record: Recorder, call_id: str, tool: str = "deploy") -> None:
    record.note("call_asked", call_id, tool=tool, arguments={}, origin="script", effect="external")


def pauses(record: Recorder, *ids: str) -> None:
    """Note calls that wait, and the pause."""
    for call_id in ids:
        asks(record, call_id)
        record.note("verdict", call_id, verdict="ask", rule="prod", reason="", source="")
    pending = tuple(Pending(id=each, tool="deploy", arguments={}, reason="") for each in ids)
    result = RunResult(
        run_id="run-1", status="paused", engine="wasm", pending=pending, expires_at="2031"
    )
    record.note("run_paused", None, **result_data(result))


def test_a_record_that_ends_in_a_pause_is_a_paused_result() -> None:
    seen, record = parts_of()
    record.note("run_started", engine="auto")
    pauses(record, "c1", "c2")
    result = summarise(seen)
    assert (result.status, result.engine, result.expires_at) == ("paused", "wasm", "2031")
    assert [each.id for each in result.pending] == ["c1", "c2"]
    assert [call.status for call in result.calls] == ["pending", "pending"]
    assert (result.exit_code, result.error) == (5, None)


def test_a_resumed_run_has_the_end_that_came_last_and_each_call_once() -> None:
    seen, record = parts_of()
    record.note("run_started", engine="auto")
    record.note("output", stream="stdout", text="one\n")
    asks(record, "c0", "first")
    record.note("call_finished", "c0", status="done", duration_ms=1, error=None, bytes=4)
    pauses(record, "c1", "c2")
    later = Recorder("run-1", [seen.append], Redactor(), seq=seen[-1].seq)
    later.note("run_resumed", answers=1)
    later.note("output", stream="stdout", text="one\n")  # the script is executed again
    for call_id, status in (("c2", "refused"), ("c1", "done")):
        asks(later, call_id)
        later.note("answer", call_id, allow=status == "done", reason="", scope="call")
        later.note("call_finished", call_id, status=status, duration_ms=1, error=None, bytes=2)
    later.note("output", stream="stdout", text="two\n")
    pauses(later, "c3")
    later.note("run_resumed", answers=1)
    later.note("output", stream="stdout", text="one\ntwo\n")
    end = RunResult(run_id="run-1", status="success", engine="wasm", value=7)
    later.note("run_finished", None, **result_data(end))
    assert [event.seq for event in seen] == list(range(1, len(seen) + 1))
    result = summarise(seen)
    assert (result.status, result.value, result.stdout) == ("success", 7, "one\ntwo\n")
    assert (result.pending, result.expires_at) == ((), None)
    assert [(call.id, call.status, call.rule) for call in result.calls] == [
        ("c0", "done", ""),
        ("c1", "done", "prod"),
        ("c2", "refused", "prod"),
        ("c3", "cancelled", "prod"),
    ]


def test_a_record_that_ends_after_a_resume_has_no_end() -> None:
    seen, record = parts_of()
    pauses(record, "c1")
    record.note("run_resumed", answers=1)
    result = summarise(seen)
    assert (result.status, result.error and result.error.code) == ("error", "E_RECORD")


def test_what_had_been_let_in_when_the_host_died_may_have_been_done() -> None:
    seen, record = parts_of()
    for call_id, verdict in (("c1", "allow"), ("c2", "ask"), ("c3", "ask")):
        asks(record, call_id)
        record.note("verdict", call_id, verdict=verdict, rule="r", reason="", source="")
    record.note("answer", "c3", allow=True, reason="", scope="call")
    record.note("call_asked", "c4", tool="read", arguments={}, effect="read")
    record.note("verdict", "c4", verdict="allow", rule="r", reason="")
    error = {"code": "E_INTERRUPTED", "message": "died", "hint": ""}
    record.note("run_finished", None, status="error", error=error)
    assert [call.status for call in summarise(seen).calls] == [
        "unknown",
        "cancelled",
        "unknown",
        "cancelled",
    ]
