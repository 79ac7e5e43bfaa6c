"""The contract of a run log: the store and the log in memory keep it alike."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from lineshaft.errors import RunBusy, RunUnknown
from lineshaft.store import MemoryLog, Store
from lineshaft.values import Finished, LogRow, RunClaim, RunLog, Shown, Value, call_data, packed
from store.samples import AT, KEY, begin, call, event, pause, resume, run, sink, started


@pytest.fixture(params=["store", "memory"])
async def log(request: pytest.FixtureRequest, path: Path) -> AsyncIterator[RunLog]:
    """Return a log of each kind."""
    if request.param == "memory":
        yield MemoryLog()
        return
    async with Store(path, key=KEY) as store:
        yield store


async def test_one_row_of_an_allowed_call_is_three_events(log: RunLog) -> None:
    claim = RunClaim(run_id="r", workspace="/w")
    asked: Shown = ("call_asked", {"tool": "post"})
    judged: Shown = ("verdict", {"verdict": "allow"})
    begun = LogRow(kind="begin", at=AT, event_seq=1, shown=(("run_started", {}),))
    called = LogRow(
        kind="call",
        at=AT,
        call_id="c1",
        event_seq=2,
        shown=(asked, judged, ("call_started", {})),
        exact=call_data(call(1)),
    )
    log.append(claim, [begun])
    log.append(claim, [called])
    told = await log.tail("r")
    assert [(each.seq, each.kind) for each in told] == [
        (1, "run_started"),
        (2, "call_asked"),
        (3, "verdict"),
        (4, "call_started"),
    ]
    assert {each.call_id for each in told[1:]} == {"c1"}
    assert [each.seq for each in await log.tail("r", 2)] == [3, 4]


async def test_what_is_exact_is_in_no_event(log: RunLog) -> None:
    secret = "hunter2-s3cret"  # noqa: S105  planted
    row = LogRow(kind="ended", at=AT, call_id="c1", exact={"done": secret}, event_seq=1)
    log.append(RunClaim(run_id="r", workspace="/w"), [row])
    assert secret not in repr(await log.tail("r")) + repr(row)


async def test_a_run_goes_on_from_its_rows(log: RunLog) -> None:
    state = await begin(log, run())
    await state.started(call(1))
    await state.finished(call(1), Value(1))
    await state.started(call(2))
    await state.finished(call("r", "read"), Value("text"))
    await state.paused(pause("c3", view=b"\0\xff" * 700_000))
    saved, state = await resume(log, "r")
    assert saved.run == run()
    assert saved.pause == pause("c3", view=b"\0\xff" * 700_000)
    assert saved.finished == (
        Finished(call=call(1), done=Value(1)),
        Finished(call=call("r", "read"), done=Value("text")),
    )
    assert saved.unknown == (call(2),)
    await state.started(call(4))
    assert (await log.load("r")).pause is None


async def test_turns_and_readings_come_back_in_their_order(log: RunLog) -> None:
    await begin(log, run(seed="ab"))
    claim = RunClaim(run_id="r", workspace="/w")
    for turns, readings in (([], b"\1"), ([1, 0], b"\2\3"), ([2], b"")):
        exact = {"turns": turns, "readings": packed(readings), "torn": False}
        log.append(claim, [LogRow(kind="turn", at=AT, exact=exact)])
    saved = await log.load("r")
    assert saved.replay is not None
    assert (saved.replay.seed, saved.replay.turns) == ("ab", [1, 0, 2])
    assert saved.replay.readings == b"\1\2\3"
    assert saved.cuts == ((0, 1), (2, 3), (3, 3))
    cut = {"turns": 2, "readings": 3}
    log.append(claim, [LogRow(kind="resumed", at=AT, exact=cut)])
    saved = await log.load("r")
    assert saved.replay is not None
    assert (saved.replay.turns, saved.replay.readings) == ([1, 0], b"\1\2\3")


async def test_a_call_that_neither_started_nor_ended_is_known(log: RunLog) -> None:
    await begin(log, run())
    row = LogRow(kind="call", at=AT, call_id="c7", exact=call_data(call(7)))
    log.append(RunClaim(run_id="r", workspace="/w"), [row])
    assert (await log.load("r")).asked == (call(7),)


async def test_only_one_claim_counts(log: RunLog) -> None:
    state = await begin(log, run())
    with pytest.raises(RunBusy, match="works on it"):
        await log.take("r")
    await state.paused(pause("c1"))
    with pytest.raises(RunBusy, match="another process took it"):
        await state.started(call(1))
    await resume(log, "r")
    with pytest.raises(RunBusy, match="another process took it"):
        await state.started(call(1))


async def test_a_run_that_is_given_back_waits_as_before(log: RunLog) -> None:
    await (await begin(log, run())).paused(pause("c1", view=b"\0\xff" * 700_000))
    saved, claim = await log.take("r")
    log.give_back(claim)  # the answer need not be awaited
    again, _ = await log.take("r")
    assert (again, again.pause) == (saved, pause("c1", view=b"\0\xff" * 700_000))
    with pytest.raises(RunBusy, match="another process took it"):
        await log.give_back(claim)
    with pytest.raises(RunBusy, match="another process took it"):
        await log.append(claim, [LogRow(kind="landing", at=AT, exact={"stage": 0})], durable=True)


async def test_leases_are_renewed_while_a_run_goes_on(log: RunLog) -> None:
    sink(log, "/w")(started())
    state = await begin(log, run())
    assert await log.renew() == 1
    sink(log, "/w")(event(2, "run_finished", status="success"))
    await state.over(replayable=True)
    assert await log.renew() == 0


async def test_after_its_end_a_run_only_replays(log: RunLog) -> None:
    state = await begin(log, run())
    await state.finished(call(1, "read"), Value(1))
    await state.over(replayable=True, end={"value": 3})
    saved = await log.load("r")
    assert (saved.end, len(saved.finished)) == ({"value": 3}, 1)
    with pytest.raises(RunBusy, match="is over"):
        await log.take("r")


async def test_an_end_may_keep_nothing(log: RunLog) -> None:
    state = await begin(log, run())
    await state.over(replayable=False)
    for step in (log.load("r"), log.take("r")):
        with pytest.raises((RunUnknown, RunBusy)):
            await step


async def test_a_run_is_begun_once(log: RunLog) -> None:
    await begin(log, run())
    with pytest.raises(RunBusy, match="kept already"):
        await begin(log, run())


async def test_what_is_forgotten_is_unknown(log: RunLog) -> None:
    sink(log, "/w")(started())
    await begin(log, run())
    sink(log, "/w")(started("q"))
    assert await log.forget(["r", "q", "nobody"]) == 1
    for step in (log.tail("r"), log.load("r"), log.tail("q")):
        with pytest.raises(RunUnknown):
            await step
