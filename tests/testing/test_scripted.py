"""The engine without an interpreter keeps the contract of control."""

import asyncio

import pytest

from engines.play import Play
from lineshaft.testing import ScriptedEngine
from lineshaft.values import Call, Failure, Raised, Returned, Suspended, Value


def call(tool: str, *positional: object, id: str = "") -> Call:  # noqa: A002  as in `Call`
    return Call(tool=tool, arguments={}, positional=positional, origin="script", id=id)


async def test_calls_are_made_in_order_and_their_results_kept() -> None:
    engine = ScriptedEngine(
        [call("give", 1), call("fail", "E_STALE", "x"), call("give", 2, id="mine")],
        value={"a": 1},
        printed="hello\n",
    )
    play = Play(engine)
    assert await play("whatever") == Returned(value={"a": 1})
    assert [made.id for made in play.calls] == ["1", "2", "mine"]
    assert engine.results == {"1": Value(1), "2": Failure("E_STALE", "x"), "mine": Value(2)}
    assert play.printed == "hello\n"


async def test_calls_of_one_group_are_made_at_once() -> None:
    play = Play(ScriptedEngine([[call("meet", 2), call("meet", 2)], call("give", 1)]))
    assert await play("") == Returned(value=None)
    assert play.tools == ["meet", "meet", "give"]


async def test_a_cancelled_run_ends_its_calls_and_makes_no_more() -> None:
    play = Play(ScriptedEngine([[call("hold"), call("hold")], call("give", 1)]))
    task = asyncio.create_task(play(""))
    await play.held.wait()
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert play.tools == ["hold", "hold"]
    assert play.cancelled == ["1", "2"]


async def test_a_run_is_suspended_and_its_calls_are_cancelled() -> None:
    engine = ScriptedEngine([[call("hold"), call("hold")], call("give", 2)])
    play = Play(engine)
    play.says = lambda ids: "suspend"
    assert await play("") == Suspended()
    assert play.cancelled == ["1", "2"]
    assert play.tools == ["hold", "hold"]


async def test_an_engine_that_cannot_pause_ends_a_run_that_should() -> None:
    play = Play(ScriptedEngine([call("hold"), call("give", 2)], pauses="never"))
    play.says = lambda ids: "suspend"
    outcome = await play("")
    assert isinstance(outcome, Raised)
    assert outcome.code == "E_NO_PAUSE"
    assert play.tools == ["hold"]
