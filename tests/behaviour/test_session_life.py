"""A session's life: what is under way when it is closed ends, and has an end in the record."""

import asyncio
from collections import Counter
from contextvars import ContextVar
from pathlib import Path

import anyio
import pytest

from lineshaft import ConfigError, Event, Run, RunResult, Session, tool
from lineshaft.values import Call, CallResult, Dispatch
from support import Make


@tool(effect="read")
async def wait() -> None:
    """Wait for ever."""
    await anyio.sleep_forever()


def ends(events: list[Event]) -> Counter[str]:
    """Return how many runs began, and how they ended."""
    begun = Counter(e.kind for e in events if e.kind == "run_started")
    return begun + Counter(str(e.data["status"]) for e in events if e.kind == "run_finished")


@pytest.mark.behaviour("C15")
async def test_what_is_under_way_when_a_session_closes_is_cancelled_and_recorded(
    make: Make,
) -> None:
    events: list[Event] = []
    waiting = anyio.Event()

    def listen(event: Event) -> None:
        events.append(event)
        if sum(e.kind == "call_started" for e in events) == 3:
            waiting.set()

    with anyio.fail_after(20):
        async with make(wait, sinks=[listen]) as session:
            started = await session.start("await wait()")
            elsewhere: asyncio.Task[RunResult] = asyncio.create_task(session.run("await wait()"))
            called: asyncio.Task[CallResult] = asyncio.create_task(session.call("wait"))
            await waiting.wait()
            just_now = await session.start("await wait()")
        results = [await started.result(), await elsewhere, await just_now.result()]
        call = await called
    assert [result.status for result in results] == ["cancelled"] * 3
    assert {result.error.message for result in results if result.error} == {
        "the session was closed"
    }
    assert call.error is not None
    assert (call.error.code, call.exit_code) == ("E_CANCELLED", 130)
    assert ends(events) == {"run_started": 4, "cancelled": 4}


@pytest.mark.behaviour("C15")
async def test_runs_in_the_background_have_a_result_also_where_their_session_fails(
    make: Make,
) -> None:
    runs: list[Run] = []

    async def fail() -> None:
        async with make(wait) as session:
            runs.append(await session.start("await wait()"))
            raise ValueError("of the host")

    with anyio.fail_after(20):
        with pytest.raises(ValueError, match="of the host"):
            await fail()
        assert (await runs[0].result()).status == "cancelled"
        assert [event.kind async for event in runs[0]][-1] == "run_finished"


@pytest.mark.behaviour("C15")
async def test_a_closed_session_stays_closed(folder: Path) -> None:
    session = Session([wait], workspace=folder)
    async with session:
        with pytest.raises(ConfigError, match="in use"):
            await session.__aenter__()
    with pytest.raises(ConfigError, match="closed"):
        await session.__aenter__()
    with pytest.raises(ConfigError, match="was closed"):
        await session.run("return 1")


@pytest.mark.behaviour("C12")
async def test_middleware_that_cannot_be_set_up_fails_the_run_which_is_settled(make: Make) -> None:
    def refuses(inner: Dispatch) -> Dispatch:
        raise ValueError(f"no {Call.__name__} of {inner!r} for me")

    events: list[Event] = []
    async with make(middleware=[refuses], sinks=[events.append]) as session:
        result = await session.run("return 1")
        call = await session.call("poke")
    assert result.error is not None
    assert call.error is not None
    assert result.error.code == call.error.code == "E_CONFIG"
    assert "ValueError: no Call" in result.error.message
    assert ends(events) == {"run_started": 2, "error": 2}


TENANT: ContextVar[str] = ContextVar("tenant", default="nobody")


@pytest.mark.behaviour("C13")
async def test_tools_of_a_script_see_the_context_of_whoever_runs_it(make: Make) -> None:
    @tool(effect="read")
    async def tenant() -> str:
        """Return for whom the host works."""
        return TENANT.get()

    async with make(tenant) as session:

        async def of(name: str) -> object:
            TENANT.set(name)
            return (await session.run("return await asyncio.gather(tenant(), tenant())")).value

        both = await asyncio.gather(asyncio.create_task(of("ann")), asyncio.create_task(of("bob")))
    assert both == [["ann", "ann"], ["bob", "bob"]]


@pytest.mark.behaviour("A6")
async def test_runs_that_start_runs_come_to_an_end(make: Make) -> None:
    sessions: list[Session] = []

    @tool(effect="read", container=True)
    async def deeper() -> object:
        """Start a run that starts a run."""
        result = await sessions[0].run("return await deeper()")
        return result.value if result.error is None else result.error.message

    with anyio.fail_after(30):
        async with make(deeper) as session:
            sessions.append(session)
            result = await session.run("return await deeper()")
    assert result.value == "runs may be nested 8 deep, and this is deeper"
