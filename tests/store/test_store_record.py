"""The record in the store: what was told is read again, by whoever comes later."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lineshaft.errors import RecordError, RunUnknown
from lineshaft.store import Store
from lineshaft.trace import summarise
from store.samples import Open, begin, event, finished, left_by, pause, resume, run, sink, started


async def test_events_come_back_as_they_were_told(store: Store, open_store: Open) -> None:
    told = [
        started(),
        event(2, "output", stream="stdout", text="ü \U0001f600 \x00 \\u0000 'x'; --"),
        event(3, "call_finished", call_id="c1", error=None, n=[1, 2.5, True, {"a": None}]),
        finished(4, value={"deep": [[[1]]]}),
    ]
    record = sink(store, "/w")
    for each in told:
        record(each)
    await store.flush()
    assert await open_store().events("r") == told


async def test_half_a_character_becomes_an_escape(store: Store) -> None:
    sink(store, "/w")(event(1, "output", text="\ud83d!", call_id="\ud83d"))
    (told,) = await store.events("r")
    assert told.data == {"text": "\ud83d!"}
    assert told.call_id == "\\ud83d"


async def test_events_of_many_runs_at_once_are_told_apart(store: Store) -> None:
    sinks = [sink(store, "/a"), sink(store, "/b")]
    for seq in range(1, 101):
        for n in range(10):
            sinks[n % 2](event(seq, run_id=f"r{n}"))
    for n in range(10):
        assert [each.seq for each in await store.events(f"r{n}")] == list(range(1, 101))
    assert len(await store.runs(workspace="/a")) == 5


async def test_an_event_that_is_told_twice_is_kept_once(store: Store) -> None:
    first, second = sink(store, "/w"), sink(store, "/w")
    for each in (started(), finished(2)):
        first(each)
        second(replace(each, at="2030-01-01T00:00:59.000Z"))
    assert [each.seq for each in await store.events("r")] == [1, 2]


async def test_a_list_of_runs_says_how_each_stands(store: Store) -> None:
    record = sink(store, "/w")
    record(started("done"))
    for seq, call_id in enumerate(("c1", "c2", "c1"), 2):
        record(event(seq, "call_asked", "done", call_id))
    record(finished(5, "done", engine="wasm"))
    record(started("going"))
    record(event(7, "log", "going"))
    record(started("waits"))
    waiting = [{"id": "c1", "tool": "post"}, {"id": "c2", "tool": "get"}]
    until = "2031-01-01T00:00:00Z"
    record(event(9, "run_paused", "waits", status="paused", pending=waiting, expires_at=until))
    waits, going, done = await store.runs()
    assert (done.run_id, done.status, done.calls, done.engine) == ("done", "success", 2, "wasm")
    assert (done.name, done.origin, done.duration_ms) == ("s.py", "shell", 5)
    assert (going.run_id, going.status, going.pending) == ("going", "running", 0)
    assert (waits.status, waits.pending, waits.waiting) == ("paused", 2, ("post", "get"))
    assert waits.expires_at == until
    assert [each.run_id for each in await store.runs(limit=1)] == ["waits"]
    assert await store.runs(workspace="/elsewhere") == []


async def test_a_list_that_is_asked_for_again_reads_no_log_and_goes_by_an_index(
    store: Store, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = sink(store, "/w")
    for run_id in ("one", "two"):
        record(started(run_id))
        record(event(2, "call_asked", run_id, "c1"))
    await store.flush()
    asked: list[str] = []

    def traced(*words: Any, **more: Any) -> sqlite3.Connection:
        made = connect(*words, **more)
        made.set_trace_callback(asked.append)
        return made

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", traced)
    first = await store.runs(workspace="/w")
    assert [each.calls for each in first] == [1, 1]
    assert sum("count(" in each for each in asked) == 2
    asked.clear()
    assert await store.runs(workspace="/w") == first
    assert await store.summary("one") in first
    with closing(connect(path)) as other:
        for each in asked:
            assert "FROM log" not in each
            if "FROM runs" in each:
                plan = other.execute(f"EXPLAIN QUERY PLAN {each}").fetchall()
                assert not any(step[-1].startswith("SCAN") for step in plan), each
    record(event(3, "call_asked", "one", "c2"))
    assert {each.run_id: each.calls for each in await store.runs()} == {"one": 2, "two": 1}


async def test_a_resumed_run_goes_on_in_the_list(store: Store) -> None:
    record = sink(store, "/w")
    record(started())
    record(event(2, "run_paused", status="paused", pending=[{"tool": "post"}], expires_at="x"))
    record(event(3, "run_resumed", answers=1))
    (summary,) = await store.runs()
    assert (summary.status, summary.pending, summary.expires_at) == ("running", 0, None)
    record(finished(4, status="error", error={"code": "E_DENIED", "message": "no"}))
    (summary,) = await store.runs()
    assert summary.status == "error"


async def test_a_run_is_found_by_its_beginning(store: Store) -> None:
    for run_id, workspace in (("2030-ab", "/w"), ("2030-ac", "/w"), ("2029-x", "/else")):
        sink(store, workspace)(started(run_id))
    assert await store.find("2030-ab", workspace="/w") == "2030-ab"
    assert await store.find("2030-ac", workspace=None) == "2030-ac"
    assert await store.find("2029", workspace="/w") == "2029-x"
    for prefix, says in (
        ("2030", "2 recorded runs begin with '2030'"),
        ("zz", "no recorded run begins or ends with 'zz'"),
        ("%", "'%' is not the id of a run"),
        ("_030-ab", "'_030-ab' is not the id of a run"),
        ("2030.ab", "no recorded run begins or ends"),
        ("", "'' is not the id of a run"),
    ):
        with pytest.raises(RunUnknown, match=says):
            await store.find(prefix, workspace="/w")


async def test_the_last_run_is_the_one_with_the_newest_event(store: Store) -> None:
    record = sink(store, "/w")
    record(event(1, "run_started", "b"))
    record(event(2, "run_started", "a"))
    assert await store.find(None, workspace="/w") == "a"
    record(event(3, "log", "b"))
    assert await store.find(None, workspace="/w") == "b"
    with pytest.raises(RunUnknown, match="no run of this workspace"):
        await store.find(None, workspace="/elsewhere")


async def test_the_last_run_is_the_last_one_after_a_clock_was_set_back(store: Store) -> None:
    record = sink(store, "/w")
    record(event(1, "run_started", "a"))
    record(event(30, "log", "a"))  # an hour fast, say
    record(event(2, "run_started", "b"))
    assert await store.find(None, workspace="/w") == "b"
    assert await store.find(None) == "b"
    record(event(4, "log", "b"))
    record(event(31, "log", "a"))  # it went on meanwhile
    assert await store.find(None, workspace="/w") == "a"


async def test_a_run_whose_id_is_the_beginning_of_another_is_found(store: Store) -> None:
    for run_id in ("r", "r1"):
        sink(store, "/w")(started(run_id))
    assert await store.find("r", workspace="/w") == "r"


async def test_an_event_that_something_else_changed_is_said(store: Store, path: Path) -> None:
    sink(store, "/w")(started())
    await store.aclose()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE log SET shown = '{half'")
    with pytest.raises(RecordError, match="event 1 of run 'r' is damaged"):
        await store.events("r")


async def test_a_record_of_nobody_is_unknown(store: Store) -> None:
    with pytest.raises(RunUnknown, match="'nobody'"):
        await store.events("nobody")


async def test_the_end_of_a_run_whose_host_died_is_added_once(store: Store, path: Path) -> None:
    left_by(
        """
        record = sink(store, "/w")
        record(event(1, "run_started", name="s.py", engine="auto"))
        record(event(2, "call_asked", call_id="c1", tool="post", arguments={}))
        record(event(3, "call_started", call_id="c1"))
        await (await begin(store, run())).started(call(1))
        """,
        path,
    )
    assert [each.status for each in await store.runs()] == ["interrupted"]
    await store.runs()
    events = await store.events("r")
    assert [each.seq for each in events] == [1, 2, 3, 4]
    end = events[-1]
    assert (end.kind, end.data["status"], end.data["landed"]) == ("run_finished", "error", False)
    assert end.data["error"] == {
        "code": "E_INTERRUPTED",
        "message": "the process that ran it died before its end",
        "hint": "`lineshaft resume r`",
    }


async def test_of_a_run_that_only_read_the_hint_is_another(store: Store, path: Path) -> None:
    left_by("sink(store, '/w')(event(1, 'run_started'))\nawait store.flush()", path)
    end = (await store.events("r"))[-1]
    error = end.data["error"]
    assert isinstance(error, dict)
    assert error["hint"] == "run the script anew"


async def test_a_resumed_run_that_is_interrupted_again_says_so_again(
    store: Store, path: Path
) -> None:
    left_by("sink(store, '/w')(event(1))\nawait begin(store, run())", path)
    left_by(
        "await resume(store, 'r')\nsink(store, '/w')(event(3, 'run_resumed'))\nawait store.flush()",
        path,
    )
    kinds = [each.kind for each in await store.events("r")]
    assert kinds == ["log", "run_finished", "run_resumed", "run_finished"]
    saved, _ = await resume(store, "r")
    assert saved.last_seq == 4


async def test_a_run_that_waits_is_not_interrupted(store: Store, path: Path) -> None:
    left_by(
        """
        sink(store, "/w")(event(1, "run_started"))
        await (await begin(store, run())).paused(pause("c1"))
        """,
        path,
    )
    (summary,) = await store.runs()
    assert (summary.status, summary.waiting) == ("paused", ("post",))
    assert summary.expires_at == "2031-01-01T00:00:00Z"
    end = (await store.events("r"))[-1]
    assert (end.kind, end.data["status"]) == ("run_paused", "paused")
    assert (end.data["expires_at"], end.data["pending"]) == (
        "2031-01-01T00:00:00Z",
        [{"id": "", "tool": "post", "arguments": {}, "reason": ""}],
    )
    assert summarise(await store.events("r")).status == "paused"


async def test_a_run_that_waits_is_listed_so_before_its_record_says_it(store: Store) -> None:
    sink(store, "/w")(started())
    await (await begin(store, run())).paused(pause("c1"))
    assert [each.status for each in await store.runs()] == ["paused"]


async def test_a_run_whose_record_ended_is_over_though_its_host_died_then(
    store: Store, path: Path
) -> None:
    left_by(
        """
        await begin(store, run())
        sink(store, "/w")(event(1, "run_finished", status="success"))
        await store.flush()
        """,
        path,
    )
    with pytest.raises(Exception, match="is over"):
        await resume(store, "r")
    assert [each.status for each in await store.runs()] == ["success"]


async def test_a_run_that_is_not_yet_over_belongs_to_this_process(store: Store) -> None:
    record = sink(store, "/w")
    record(started())
    await begin(store, run())
    assert [each.status for each in await store.runs()] == ["running"]
    record(event(2, "run_paused", status="paused"))
    state = await begin(store, run("q"))
    await state.paused(pause("c1"))
    assert {each.run_id: each.status for each in await store.runs()} == {
        "r": "paused",
        "q": "paused",
    }


async def test_a_record_is_read_while_another_process_holds_the_store(
    store: Store, open_store: Open, path: Path
) -> None:
    sink(store, "/w")(started())
    await (await begin(store, run())).paused(pause("c1"))
    other = open_store()
    with closing(sqlite3.connect(path, isolation_level=None)) as writes:
        writes.execute("BEGIN EXCLUSIVE")
        assert [each.status for each in await other.runs()] == ["paused"]
        assert (await other.summary("r")).waiting == ("post",)
        assert [each.kind for each in await other.events("r")] == ["run_started"]
        assert await other.find("r") == "r"
        assert (await other.load("r")).pause is not None
        writes.execute("ROLLBACK")


async def test_to_read_the_record_of_a_dead_host_writes_nothing(store: Store, path: Path) -> None:
    left_by("sink(store, '/w')(event(1, 'run_started'))\nawait begin(store, run())", path)
    first, again = await store.events("r"), await store.events("r")
    assert [each.kind for each in first] == ["run_started", "run_finished"]
    assert [each.status for each in await store.runs()] == ["interrupted"]
    assert first == again
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute(
            "SELECT count(*) FROM log WHERE shown IS NOT NULL"
        ).fetchone() == (1,)


async def test_a_record_that_waits_to_be_written_is_read_whole(store: Store) -> None:
    record = sink(store, "/w")
    for seq in range(1, 500):
        record(event(seq))
        if seq % 100 == 0:
            assert len(await store.events("r")) == seq
