"""What a person at a window says: a message begins a run of an agent, stop ends it."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import anyio
import pytest

from lineshaft.errors import ConnectFailed, RemoteProtocolError
from lineshaft.remote.host import AgentOutcome, Hear
from lineshaft.remote.protocol import PersonMessage, PersonStop, read_person
from lineshaft.values import Event
from remote.far import SECONDS, WINDOWS, Far, Near, near

BOTH = pytest.mark.parametrize("window", WINDOWS.values(), ids=WINDOWS)
STOP = {"action": "change_agent_state", "args": {"agent_state": "stopped"}}


def message(content: object = "sort it", agent: object = "sort") -> dict[str, object]:
    return {"action": "message", "args": {"content": content, "agent": agent}}


def event(kind: Any, call: str | None = None, **data: object) -> Event:
    return Event(run_id="r1", seq=1, at="2026-01-01T00:00:00Z", kind=kind, call_id=call, data=data)


class Agents:
    """Agents that end when a test says so."""

    def __init__(self) -> None:
        self.asked: list[PersonMessage] = []
        self.end: asyncio.Future[AgentOutcome] = asyncio.get_running_loop().create_future()
        self.ended_by_cancel = 0

    async def start(self, asked: PersonMessage, hear: Hear) -> AgentOutcome:
        self.asked.append(asked)
        await hear(event("run_started"))
        await hear(event("call_asked", "c1", tool="agents.sort", arguments={"text": "a\u202eb"}))
        try:
            return await asyncio.shield(self.end)
        except asyncio.CancelledError:
            self.ended_by_cancel += 1
            raise


def about(here: Near) -> dict[str, object]:
    return {"conversation_id": here.conversation.id, "window": "w", "protocol": 1}


@asynccontextmanager
async def talking(window: Any) -> AsyncGenerator[tuple[Far, Agents]]:
    """Serve a host that starts agents, with a window."""
    agents = Agents()
    async with near(start_agent=agents.start) as here, window(here.url, about(here)) as far:
        await far.next("connected")
        yield far, agents


async def shown(far: Far, count: int) -> list[dict[str, Any]]:
    frames = [await far.next("oh_event") for _ in range(count)]
    assert all("execution_target" not in frame for frame in frames)
    return frames


@BOTH
async def test_a_message_begins_a_run_and_its_events_are_shown_as_they_come(window: Any) -> None:
    async with talking(window) as (far, agents):
        assert await far.emit("oh_user_action", message()) == {"ok": True}
        said, running, begun, asked = await shown(far, 4)
        assert agents.asked == [PersonMessage(agent="sort", content="sort it")]
        assert (said["source"], said["action"], said["args"]["content"]) == (
            "user",
            "message",
            "sort it",
        )
        assert running["extras"] == {"agent_state": "running", "run_id": ""}
        assert begun["extras"]["kind"] == "run_started"
        assert asked["extras"]["text"] == 'agents.sort text="a\\u202eb"'
        agents.end.set_result(AgentOutcome(state="finished", text="bug"))
        result, over = await shown(far, 2)
        assert (result["source"], result["args"]) == ("agent", {"content": "bug"})
        assert over["extras"] == {"agent_state": "finished", "run_id": "r1"}
        ids = [each["id"] for each in (said, running, begun, asked, result, over)]
        assert ids == sorted(set(ids))


@BOTH
async def test_stop_ends_the_run_and_another_message_begins_the_next(window: Any) -> None:
    async with talking(window) as (far, agents):
        assert (await far.emit("oh_user_action", STOP))["reason"] == "no agent is at work"
        await far.emit("oh_user_action", message())
        await shown(far, 4)
        second = await far.emit("oh_user_action", message("another"))
        assert (second["ok"], "an agent is at work" in second["reason"]) == (False, True)
        assert await far.emit("oh_user_action", STOP) == {"ok": True}
        (over,) = await shown(far, 1)
        assert over["extras"]["agent_state"] == "stopped"
        assert agents.ended_by_cancel == 1
        assert await far.emit("oh_user_action", message("next")) == {"ok": True}
        assert (await shown(far, 4))[0]["args"]["content"] == "next"
    assert agents.ended_by_cancel == 2  # the host waits for the end of what it began


async def test_the_agent_of_a_window_that_stays_away_ends() -> None:
    agents = Agents()
    async with near(start_agent=agents.start, grace=0.1) as here:
        async with WINDOWS["python"](here.url, about(here)) as far:
            await far.next("connected")
            assert await far.emit("oh_user_action", message()) == {"ok": True}
            await shown(far, 4)
            assert agents.ended_by_cancel == 0
        with anyio.fail_after(SECONDS):
            while not agents.ended_by_cancel:
                await anyio.sleep(0.01)


async def test_an_agent_that_does_not_start_is_an_error_that_is_shown() -> None:
    async with talking(WINDOWS["python"]) as (far, agents):
        agents.end.set_exception(ConnectFailed("it did not start", hint="install it"))
        await far.emit("oh_user_action", message())
        *_, error, over = await shown(far, 6)
        assert error["content"] == "it did not start; install it"
        assert error["extras"] == {"error_id": "E_CONNECT"}
        assert over["extras"]["agent_state"] == "error"


async def test_whatever_ends_an_agent_is_an_end_that_is_shown() -> None:
    async with talking(WINDOWS["python"]) as (far, agents):
        agents.end.set_exception(ExceptionGroup("two", [ValueError("odd")]))
        await far.emit("oh_user_action", message())
        *_, error, over = await shown(far, 6)
        assert "ValueError('odd')" in error["content"]
        assert over["extras"]["agent_state"] == "error"
        assert (await far.emit("oh_user_action", message()))["ok"]


async def test_what_is_no_message_is_refused_and_starts_nothing() -> None:
    async with talking(WINDOWS["python"]) as (far, agents):
        for frame, why in (
            ("text", "no JSON object"),
            ({"action": "run", "args": {"command": "x"}}, "a message or stop"),
            ({"action": "change_agent_state", "args": {"agent_state": "paused"}}, "or stop"),
            (message(" \n"), "no text"),
            (message(3), "no text"),
            (message("x" * 100_001), "into a file"),
            (message(agent=""), "lineshaft.agent"),
            (message(agent="--mode=open"), "no name of an agent"),
            (message(agent="a b"), "no name of an agent"),
        ):
            answer = await far.emit("oh_user_action", frame)
            assert (answer["ok"], why in answer["reason"]) == (False, True), answer
        assert agents.asked == []


async def test_a_host_that_starts_no_agents_says_so() -> None:
    async with near() as here, WINDOWS["python"](here.url, about(here)) as far:
        await far.next("connected")
        answer = await far.emit("oh_user_action", message())
        assert answer == {"ok": False, "reason": "this host starts no agents"}


def test_a_person_says_a_message_or_stop() -> None:
    assert read_person(message(agent="pack.sort")) == PersonMessage(
        agent="pack.sort", content="sort it"
    )
    assert read_person(STOP) == PersonStop()
    with pytest.raises(RemoteProtocolError, match="no agent is named"):
        read_person({"action": "message", "args": {"content": "x"}})
