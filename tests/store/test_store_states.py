"""What is kept of a run comes back as it was."""

import asyncio
import math
import os
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lineshaft.errors import RunBusy, RunUnknown, StateError
from lineshaft.store import Store
from lineshaft.values import Failure, Finished, KeptCall, KeptPause, KeptRun, SavedRun, Value
from store.samples import Open, begin, call, event, left_by, pause, resume, run, sink, started


async def test_a_paused_run_comes_back_whole_in_another_session(
    store: Store, open_store: Open
) -> None:
    begun = run(inputs={"a": [1, None, "ü"]})
    waits = pause("c3", "c4", snapshot=b"\x00\xff" * 50_000, stage=b"")
    sink(store, "/w")(started())
    state = await begin(store, begun)
    await state.started(call(1))
    await state.started(call(2))
    await state.finished(call(2), Failure("E_TOOL_FAILED", "no", "hint", "failed"))
    await state.finished(call(1), Value({"x": 1.5}))
    await state.finished(call("r", "read"), Value("text"))
    await state.paused(waits)
    saved, _ = await resume(open_store(), "r")
    assert saved == SavedRun(
        run=begun,
        pause=waits,
        finished=(
            Finished(call=call(2), done=Failure("E_TOOL_FAILED", "no", "hint", "failed")),
            Finished(call=call(1), done=Value({"x": 1.5})),
            Finished(call=call("r", "read"), done=Value("text")),
        ),
        unknown=(),
        last_seq=1,
    )


async def test_what_ends_otherwise_than_it_started_is_kept_as_it_ended(store: Store) -> None:
    state = await begin(store, run())
    await state.started(call(1))
    ended = replace(call(1), arguments={"n": 2}, staged=True, stage=7)
    await state.finished(ended, Value(None))
    await state.paused(pause("c2"))
    assert (await store.load("r")).finished == (Finished(call=ended, done=Value(None)),)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=())), inner, max_size=4)
    ),
    max_leaves=20,
)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(value=JSON, number=st.integers(0, 10**9))
async def test_values_come_back_exactly(store: Store, value: object, number: int) -> None:
    run_id = f"r{number}-{os.urandom(8).hex()}"
    state = await begin(store, run(run_id, inputs=value))
    kept = KeptCall(key="k", id="c", tool="t", arguments={"v": value})
    await state.finished(kept, Value(value))
    await state.over(replayable=True, end={"value": value})
    saved = await store.load(run_id)
    told = (saved.run.document["inputs"], saved.finished[0].call.arguments["v"])
    assert [repr(each) for each in told] == [repr(value)] * 2
    assert (repr(saved.finished[0].done), saved.end) == (repr(Value(value)), {"value": value})


async def test_numbers_that_json_has_not_come_back_too(store: Store) -> None:
    state = await begin(store, run(inputs=[math.inf, -math.inf, 2**70, 0.1 + 0.2]))
    await state.finished(call(1), Value(math.nan))
    saved = await store.load("r")
    assert saved.run.document["inputs"] == [math.inf, -math.inf, 2**70, 0.1 + 0.2]
    done = saved.finished[0].done
    assert isinstance(done, Value)
    assert isinstance(done.value, float)
    assert math.isnan(done.value)


async def test_large_results_are_packed(store: Store, path: Path) -> None:
    state = await begin(store, run())
    await state.finished(call(1), Value("x" * 20_000_000))
    await state.over(replayable=True)
    await store.aclose()
    assert path.stat().st_size < 1_000_000
    done = (await store.load("r")).finished[0].done
    assert isinstance(done, Value)
    assert done.value == "x" * 20_000_000


async def test_a_value_that_is_not_json_is_refused_and_hurts_no_other(store: Store) -> None:
    state = await begin(store, run())
    with pytest.raises(StateError, match=r"not JSON \(TypeError\)"):
        await state.finished(call(1), Value(object()))
    with pytest.raises(StateError, match="not JSON"):
        await begin(store, run("r2", x={1}))
    await state.finished(call(2), Value(2))
    assert [each.call.id for each in (await store.load("r")).finished] == ["c2"]


async def test_a_read_that_cannot_be_kept_is_told_at_once(store: Store) -> None:
    state = await begin(store, run())
    with pytest.raises(StateError, match="not JSON"):
        await state.finished(call(1, "read"), Value(object()))
    await state.flush()


async def test_what_was_started_and_not_finished_is_unknown(store: Store, path: Path) -> None:
    left_by(
        """
        state = await begin(store, run())
        for n in (1, 2, 3):
            await state.started(call(n))
        await state.finished(call(2), Value(2))
        await state.started(call(4, "read"))
        await state.started(call(5, "write", staged=True))
        """,
        path,
    )
    saved, state = await resume(store, "r")
    assert saved.unknown == (call(1), call(3))
    assert saved.pause is None
    await state.started(call(1))
    await state.finished(call(1), Value(1))
    saved = await store.load("r")
    assert saved.unknown == (call(3),)
    assert [each.call.id for each in saved.finished] == ["c2", "c1"]


async def test_a_resumed_run_pauses_again_with_its_new_pause_alone(
    store: Store, open_store: Open
) -> None:
    first = await begin(store, run())
    await first.paused(pause("c1", "c2", snapshot=b"one", stage=b"old"))
    saved, second = await resume(store, "r")
    await second.started(call(1))
    await second.finished(call(1), Value(1))
    await second.paused(pause("c2", snapshot=b"two"))
    saved, third = await resume(open_store(), "r")
    assert saved.pause == pause("c2", snapshot=b"two")
    await third.over(replayable=False)


async def test_a_host_that_dies_before_it_did_anything_leaves_the_pause_as_it_was(
    store: Store, path: Path
) -> None:
    state = await begin(store, run())
    await state.paused(pause("c1", snapshot=b"one"))
    left_by("await resume(store, 'r')", path)
    saved, state = await resume(store, "r")
    assert saved.pause == pause("c1", snapshot=b"one")
    await state.started(call(1))
    left = await store.load("r")
    assert (left.pause, left.unknown) == (None, (call(1),))


async def test_a_run_that_is_given_back_is_as_it_was(store: Store, path: Path) -> None:
    sink(store, "/w")(started())
    await (await begin(store, run())).paused(pause("c1"))
    left_by("await (await begin(store, run('died'))).started(call(1))", path)
    assert {each.status for each in await store.runs()} == {"paused", "interrupted"}
    for name in ("r", "died"):
        _, claim = await store.take(name)
        told, before = await store.events(name), await store.load(name)
        await store.give_back(claim)
        assert (await store.events(name), await store.load(name)) == (told, before)
    assert {each.status for each in await store.runs()} == {"paused", "interrupted"}
    assert [each.waiting for each in await store.runs() if each.run_id == "r"] == [("post",)]
    assert await store.renew() == 0
    await store.cancel("r")
    await store.cancel("died")


async def test_a_run_is_not_taken_by_a_caller_who_left(store: Store) -> None:
    await (await begin(store, run())).paused(pause("c1"))
    taking = asyncio.create_task(store.take("r"))
    taking.get_loop().call_soon(taking.cancel)  # once it waits for the writer
    with pytest.raises(asyncio.CancelledError):
        await taking
    assert (await store.summary("r")).status == "paused"
    saved, _ = await store.take("r")
    assert saved.pause == pause("c1")


async def test_a_run_that_is_over_keeps_what_a_replay_needs(store: Store) -> None:
    state = await begin(store, run())
    await state.finished(call(1, "read"), Value(1))
    await state.over(replayable=True, end={"value": 3, "stdout": "x"})
    saved = await store.load("r")
    assert (saved.pause, saved.end) == (None, {"value": 3, "stdout": "x"})
    assert len(saved.finished) == 1
    with pytest.raises(RunBusy, match="'r' is over"):
        await resume(store, "r")


async def test_a_run_that_is_over_may_keep_nothing(store: Store) -> None:
    state = await begin(store, run())
    await state.paused(pause("c1", snapshot=b"x" * 100))
    _, state = await resume(store, "r")
    await state.over(replayable=False)
    with pytest.raises(RunUnknown, match="run 'r' is over, and nothing of it was kept"):
        await store.load("r")
    with pytest.raises(RunBusy, match="is over"):
        await resume(store, "r")


async def test_after_its_end_a_run_takes_nothing_more(store: Store) -> None:
    state = await begin(store, run())
    await state.over(replayable=True)
    for step in (state.started(call(1)), state.paused(pause()), state.over(replayable=True)):
        with pytest.raises(RunBusy, match="no longer this process's"):
            await step


async def test_a_run_is_begun_once(store: Store) -> None:
    await begin(store, run())
    with pytest.raises(RunBusy, match="kept already"):
        await begin(store, run())


async def test_of_a_run_that_nobody_kept_nothing_is_known(store: Store) -> None:
    sink(store, "/w")(event(1, "run_started"))
    for step in (resume(store, "r"), store.load("r"), store.cancel("r")):
        with pytest.raises(RunUnknown, match="nothing of run 'r' was kept"):
            await step


async def test_a_cancelled_pause_ends_the_record_and_leaves_no_state(store: Store) -> None:
    record = sink(store, "/w")
    record(started())
    record(event(2, "output", stream="stdout", text="said"))
    waiting = [{"id": "c1", "tool": "post"}]
    facts = event(3, "run_paused", status="paused", duration_ms=7, engine="wasm", pending=waiting)
    record(facts)
    state = await begin(store, run())
    await state.paused(pause("c1"))
    await store.cancel("r")
    end = (await store.events("r"))[-1]
    assert (end.seq, end.kind, end.data["status"]) == (4, "run_finished", "cancelled")
    assert (end.data["engine"], end.data["duration_ms"]) == ("wasm", 7)
    assert (end.data["pending"], end.data["expires_at"]) == ([], None)
    assert [each.status for each in await store.runs()] == ["cancelled"]
    with pytest.raises(RunBusy, match="is over"):
        await store.cancel("r")


async def test_only_a_run_that_stands_still_can_be_cancelled(store: Store) -> None:
    await begin(store, run())
    with pytest.raises(RunBusy, match=f"process {os.getpid()} works on it"):
        await store.cancel("r")


async def test_values_that_hold_state_do_not_show_it() -> None:
    secret = "hunter2-s3cret"  # noqa: S105  planted
    kept = KeptCall(key="k", id="c", tool="t", arguments={"a": secret})
    held: list[object] = [
        kept,
        KeptRun(run_id="r", workspace="w", document={"script": secret}),
        KeptPause(document={"a": secret}, blobs={"b": secret.encode()}),
        Finished(call=kept, done=Value(secret)),
    ]
    assert [each for each in held if secret in repr(each)] == []
