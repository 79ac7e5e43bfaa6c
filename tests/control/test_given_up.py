"""Calls that a script gave up, and whose tools went on: later segments of the run know of both."""

import asyncio
import threading
from contextlib import suppress

import pytest

from control.world import Open
from lineshaft import Answer, Session, Tool
from lineshaft.agents import Microagent
from lineshaft.testing import ScriptedModel, call, exit_with
from support import Outside

GIVES_UP = """
task = asyncio.create_task(slow())
await begun()
task.cancel()
return ["given up", await poke(what="asked")]
"""
YES = {"*": Answer(allow=True)}


class GoesOn:
    """A tool that goes on when it is told to end, until it is released, and one that waits for it.

    Args:
        kind: "sync" or "async".
        outside: Counts its calls.
    """

    def __init__(self, kind: str, outside: Outside) -> None:
        begun, thread, task = threading.Event(), threading.Event(), asyncio.Event()

        def at_once() -> None:
            outside.counts["slow"] += 1
            begun.set()
            thread.wait(30)

        async def slowly() -> None:
            outside.counts["slow"] += 1
            begun.set()
            while not task.is_set():
                with suppress(asyncio.CancelledError):
                    await task.wait()

        made = at_once if kind == "sync" else slowly

        def wait_for_it() -> None:
            begun.wait(30)

        self.tools = (
            Tool.from_function(made, name="slow", description="Go on.", effect="read"),
            Tool.from_function(
                wait_for_it, name="begun", description="Wait for its begin.", effect="read"
            ),
        )
        self._events = thread, task

    def release(self) -> None:
        """Let it end."""
        for event in self._events:
            event.set()


@pytest.fixture(params=["sync", "async"])
def goes_on(request: pytest.FixtureRequest, outside: Outside) -> GoesOn:
    """Return a tool that outlives the grace of a call."""
    return GoesOn(str(request.param), outside)


@pytest.fixture(autouse=True)
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a cancelled tool left behind soon."""
    monkeypatch.setattr("lineshaft.gate._bounded.GRACE_SECONDS", 0.05)


async def resumed_and_replayed(session: Session, script: str, goes_on: GoesOn) -> object:
    """Return what a run comes to that pauses, is resumed, and then replayed."""
    try:
        paused = await session.run(script)
        assert [each.tool for each in paused.pending] == ["poke"], paused.error
        done = await session.resume(paused.run_id, YES)
        assert done.error is None
        [left] = [each for each in done.calls if each.tool == "slow"]
        assert left.status == "unknown"
        replay = await session.replay(done.run_id)
    finally:
        goes_on.release()
    assert (replay.difference, replay.run.status) == (None, "success")
    return done.value


async def test_a_run_goes_on_over_a_call_that_it_gave_up_and_whose_tool_did_not_end(
    opened: Open, outside: Outside, goes_on: GoesOn
) -> None:
    async with opened(*goes_on.tools) as session:
        value = await resumed_and_replayed(session, GIVES_UP, goes_on)
    assert value == ["given up", 1]
    assert (outside.counts["slow"], outside.counts["poke"]) == (1, 1)


async def test_so_does_a_run_in_the_middle_of_an_agents_script(
    opened: Open, outside: Outside, goes_on: GoesOn
) -> None:
    model = ScriptedModel([call("run_script", code=GIVES_UP), exit_with("done")])
    poke = outside.tool("poke", effect="external")
    agent = Microagent[str](
        name="worker", instructions="Work.", tools=[*goes_on.tools, poke], model=model, scripts=True
    )
    async with opened(agent) as session:
        script = "return await agents.worker(text='x')"
        assert await resumed_and_replayed(session, script, goes_on) == "done"
    assert (outside.counts["slow"], outside.counts["poke"]) == (1, 1)
