"""Middleware that makes calls of its own: a pause in the middle of it repeats none of them."""

from dataclasses import replace

import pytest

from control.world import Open
from lineshaft import Answer
from lineshaft.values import Call, Dispatch, Done, Value
from support import Outside

YES = Answer(allow=True)

SCRIPT = """
first = await poke(what="first")
return [first, await poke(what="second")]
"""


def noting(inner: Dispatch) -> Dispatch:
    """Note each poke before it is made."""

    async def dispatch(call: Call) -> Done:
        if call.tool == "poke":
            await inner(replace(call, tool="note", arguments={"what": "a poke"}, positional=()))
        return await inner(call)

    return dispatch


def twice(inner: Dispatch) -> Dispatch:
    """Make each call a second time."""

    async def dispatch(call: Call) -> Done:
        await inner(call)
        return await inner(call)

    return dispatch


def keeping(inner: Dispatch) -> Dispatch:
    """Keep to itself that it was cancelled."""

    async def dispatch(call: Call) -> Done:
        try:
            return await inner(call)
        except BaseException:  # noqa: BLE001  what it must not do
            return Value("made up")

    return dispatch


async def test_nothing_that_middleware_makes_up_stands_for_a_call_that_waits(
    opened: Open, outside: Outside
) -> None:
    async with opened(middleware=[keeping]) as session:
        paused = await session.run("return await poke()")
        assert paused.status == "paused"
        done = await session.resume(paused.run_id, {"*": YES})
    assert (done.status, done.value, outside.counts["poke"]) == ("success", 1, 1)


@pytest.mark.parametrize(("around", "notes", "pokes"), [(noting, 2, 2), (twice, 0, 4)])
async def test_calls_beside_one_that_waits_are_made_once(
    opened: Open, outside: Outside, around: object, notes: int, pokes: int
) -> None:
    async with opened(middleware=[around]) as session:
        run = await session.run(SCRIPT)
    pauses = 0
    while run.status == "paused":
        pauses += 1
        async with opened(middleware=[around]) as session:
            run = await session.resume(run.run_id, {"*": YES})
    assert (run.status, pauses) == ("success", pokes)
    assert (outside.counts["note"], outside.counts["poke"]) == (notes, pokes)
    assert [call.status for call in run.calls] == ["done"] * (notes + pokes)
    assert len({call.id for call in run.calls}) == notes + pokes
    async with opened(middleware=[around]) as session:
        replay = await session.replay(run.run_id)
    assert (replay.difference, replay.run.value) == (None, run.value)
