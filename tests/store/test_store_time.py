"""What is kept, is kept for a time; then it is gone, and the store says since when."""

import math
import sqlite3
from pathlib import Path

import pytest

from lineshaft.errors import ConfigError, RunUnknown, StateExpired
from lineshaft.store import Store
from lineshaft.values import Value
from store.samples import (
    KEY,
    Clock,
    Open,
    begin,
    call,
    event,
    finished,
    left_by,
    pause,
    resume,
    run,
    sink,
    started,
)


async def over(store: Store, run_id: str = "r") -> None:
    """Leave a run that is over and can be replayed."""
    sink(store, "/w")(started(run_id))
    state = await begin(store, run(run_id))
    await state.finished(call(1), Value("x" * 100_000))
    sink(store, "/w")(finished(2, run_id))
    await state.over(replayable=True)


async def test_a_run_can_be_replayed_for_a_week_and_then_says_until_when(
    store: Store, clock: Clock
) -> None:
    await over(store)
    clock.pass_(days=6, hours=23)
    await store.load("r")
    clock.pass_(hours=1)
    for step in (store.load("r"), resume(store, "r"), store.cancel("r")):
        with pytest.raises(StateExpired, match=r"was kept until 2030-01-08T00:00:00.000Z"):
            await step
    assert len(await store.events("r")) == 2


async def test_how_long_is_a_matter_of_the_store(path: Path, clock: Clock) -> None:
    async with Store(path, key=KEY, keep_days=0.5, clock=clock) as store:
        await over(store)
        clock.pass_(hours=13)
        with pytest.raises(StateExpired, match="until 2030-01-01T12:00"):
            await store.load("r")
    with pytest.raises(ConfigError, match="keep_days is -1"):
        Store(path, keep_days=-1)


async def test_what_is_due_goes_when_the_next_run_begins(
    store: Store, clock: Clock, path: Path
) -> None:
    await over(store)
    clock.pass_(days=8)
    await begin(store, run("q"))
    await store.aclose()
    assert b"x" * 1_000 not in path.read_bytes()
    assert await rows(path) == [("q", "begin")]


async def rows(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT run, kind FROM log WHERE exact IS NOT NULL").fetchall()
    finally:
        connection.close()


async def test_a_pause_is_over_when_nobody_answers_in_time(
    store: Store, open_store: Open, clock: Clock
) -> None:
    sink(store, "/w")(started())
    state = await begin(store, run())
    until = "2030-01-02T01:00:00+01:00"
    waiting = [{"id": "c1", "tool": "post"}]
    sink(store, "/w")(event(2, "run_paused", status="paused", pending=waiting, expires_at=until))
    await state.paused(pause("c1", expires_at=until))
    clock.pass_(hours=23, minutes=59)
    assert [each.status for each in await open_store().runs()] == ["paused"]
    clock.pass_(minutes=1)
    assert [each.status for each in await open_store().runs()] == ["expired"]
    end = (await store.events("r"))[-1]
    assert (end.kind, end.data["status"], end.data["pending"]) == ("run_finished", "cancelled", [])
    assert end.data["error"] == {
        "code": "E_EXPIRED",
        "message": "no answer came until 2030-01-02T00:00:00.000Z, and the run ended",
        "hint": "",
    }
    for step in (resume(store, "r"), store.load("r"), store.cancel("r")):
        with pytest.raises(StateExpired, match=r"until 2030-01-02T00:00:00.000Z"):
            await step


async def test_a_pause_that_is_due_cannot_be_resumed_first(store: Store, clock: Clock) -> None:
    state = await begin(store, run())
    await state.paused(pause("c1", expires_at="2030-01-01T01:00:00Z"))
    clock.pass_(hours=2)
    with pytest.raises(StateExpired):
        await resume(store, "r")


async def test_a_pause_without_an_end_waits(store: Store, clock: Clock) -> None:
    state = await begin(store, run())
    await state.paused(pause("c1", expires_at=""))
    clock.pass_(days=3_000)
    assert (await resume(store, "r"))[0].pause is not None


async def test_a_resumed_run_no_longer_expires(store: Store, clock: Clock) -> None:
    state = await begin(store, run())
    await state.paused(pause("c1", expires_at="2030-01-01T01:00:00Z"))
    _, state = await resume(store, "r")
    clock.pass_(days=30)
    await store.runs()
    await state.started(call(1))
    assert (await store.load("r")).unknown == (call(1),)


async def test_an_interrupted_run_can_be_resumed_for_as_long_as_a_replay(
    store: Store, path: Path, clock: Clock
) -> None:
    left_by("await begin(store, run())", path)
    clock.pass_(days=6)
    await store.runs()
    await store.load("r")
    clock.pass_(days=1)
    with pytest.raises(StateExpired, match="until 2030-01-08"):
        await resume(store, "r")


async def test_prune_deletes_states_that_are_due_and_old_records_on_demand(
    store: Store, clock: Clock, path: Path
) -> None:
    await over(store, "old")
    sink(store, "/w")(event(1, "run_started", "waits"))
    waits = await begin(store, run("waits"))
    await waits.paused(pause("c1", expires_at="2031-01-01T00:00:00Z"))
    assert (await store.prune()).states == 0
    clock.pass_(days=8)
    await over(store, "new")
    assert [(await store.prune()).states for _ in range(2)] == [0, 0]  # `begin` was faster
    with pytest.raises(StateExpired):
        await store.load("old")
    pruned = await store.prune(days=7)
    assert (pruned.records, pruned.states) == (2, 1)  # events of samples are all of one day
    for run_id in ("old", "new"):
        with pytest.raises(RunUnknown):
            await store.events(run_id)
        with pytest.raises(RunUnknown):
            await store.load(run_id)
    assert [each.run_id for each in await store.runs()] == ["waits"]
    size = path.stat().st_size
    assert size < 150_000


@pytest.mark.parametrize("days", [-1.0, 1e300, math.nan])
async def test_days_that_cannot_be_are_refused(store: Store, days: float) -> None:
    with pytest.raises(ConfigError, match="days is"):
        await store.prune(days=days)


async def test_prune_leaves_what_goes_on(store: Store, clock: Clock) -> None:
    sink(store, "/w")(started())
    await begin(store, run())
    clock.pass_(days=100)
    assert (await store.prune(days=1)).records == 0
    assert [each.status for each in await store.runs()] == ["running"]
