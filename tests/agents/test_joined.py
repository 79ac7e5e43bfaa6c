"""Agents that host code runs in the body of a tool: a part of that tool's run."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from lineshaft import Answer, Event, Limits, Pending, Policy, Session, Tool, ToolError, kit
from lineshaft.agents import AgentResult, Microagent
from lineshaft.errors import AgentError
from lineshaft.models import ModelReply, ModelRequest, OnText
from lineshaft.testing import ScriptedModel, call, exit_with
from lineshaft.values import Call, Context
from support import Outside

pytestmark = pytest.mark.behaviour("C13")

OPEN = Policy(mode="open")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def writer(*replies: Any, **settings: Any) -> Microagent[str]:
    model = ScriptedModel(
        replies or (call("write_file", path="out", content="x"), exit_with("done"))
    )
    given: dict[str, Any] = {"tools": [kit.tools("write_file")], "model": model}
    return Microagent[str](name="writer", instructions="Write it.", **given | settings)


@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_an_agent_in_a_tool_is_part_of_the_tools_run(
    folder: Path, tmp_path: Path, kind: str
) -> None:
    agent, seen = writer(), list[AgentResult[str]]()

    async def slowly(text: str) -> str:
        """Have it written."""
        seen.append(await agent.run(text=text))
        return seen[0].output

    def at_once(text: str) -> str:
        """Have it written."""
        seen.append(agent.run_sync(text=text))
        return seen[0].output

    tool = Tool.from_function(slowly if kind == "async" else at_once, name="have", effect="write")
    tools = [tool, kit.tools("read_file", "write_file")]
    async with Session(tools, workspace=folder, policy=OPEN, store=tmp_path / "r.db") as session:
        result = await session.run(
            "await write_file('own', 'x')\n"
            "said = await have('x')\n"
            "return [said, (await read_file('out'))['content']]"
        )
        assert result.value == ["done", "x"]
        assert seen[0].run_id == result.run_id
        made = {c.id: c for c in result.calls}
        [inner] = [c for c in result.calls if c.tool == "agents.writer"]
        assert made[inner.parent or ""].tool == "have"
        assert {c.tool for c in result.calls if c.parent == inner.id} == {
            "ask_model",
            "write_file",
        } | {"commit_changes"}
        assert sorted(path.name for path in folder.iterdir()) == ["out", "own"]
        await session.undo(result.run_id)
    assert list(folder.iterdir()) == []


async def test_an_agent_with_a_workspace_of_its_own_has_a_run_of_its_own(
    folder: Path, tmp_path: Path
) -> None:
    agent, apart = writer(), tmp_path / "apart"
    apart.mkdir()

    async def have() -> str:
        """Have it written elsewhere."""
        return (await agent.run(text="x", workspace=apart, policy=OPEN)).run_id

    async with Session(
        [Tool.from_function(have, effect="write")], workspace=folder, policy=OPEN
    ) as session:
        result = await session.run("return await have()")
    assert result.value != result.run_id
    assert [c.tool for c in result.calls] == ["have"]
    assert (apart / "out").exists()
    assert list(folder.iterdir()) == []


async def test_it_may_do_no_more_than_the_tools_run(folder: Path) -> None:
    agent = writer(call("write_file", path="out", content="x"), exit_with("tried"))

    async def have() -> str:
        """Have it written."""
        return (await agent.run(text="x")).output

    policy = Policy(mode="read")
    async with Session(
        [Tool.from_function(have, effect="read")], workspace=folder, policy=policy
    ) as session:
        result = await session.run("return await have()")
    assert result.value == "tried"
    assert [c.tool for c in result.calls if c.status == "refused"] == ["write_file"]
    assert list(folder.iterdir()) == []


async def test_its_failure_is_the_tools_to_handle_and_leaves_nothing(folder: Path) -> None:
    agent = writer(call("write_file", path="out", content="x"), call("GiveUp", reason="too hard"))

    async def have() -> str:
        """Have it written."""
        try:
            await agent.run(text="x")
        except AgentError as error:
            return error.reason
        return "no"

    async with Session(
        [Tool.from_function(have, effect="read")], workspace=folder, policy=OPEN
    ) as session:
        result = await session.run("return await have()")
    assert result.value == "too hard"
    assert list(folder.iterdir()) == []


async def test_its_calls_do_not_wait_for_the_lane_of_the_tool_around(folder: Path) -> None:
    def send(to: str) -> str:
        """Send it."""
        return to

    agent = writer(call("send", to="x"), exit_with("sent"), tools=[send])

    async def have() -> str:
        """Have it sent."""
        return (await agent.run(text="x")).output

    tool = Tool.from_function(have, effect="external")
    async with Session([tool], workspace=folder, policy=OPEN) as session:
        result = await session.run("return await have()")
    assert result.value == "sent"


async def yes(pending: Sequence[Pending]) -> Mapping[str, Answer]:
    return {each.id: Answer(allow=True) for each in pending}


def sender(outside: Outside, model: ScriptedModel | None = None) -> Microagent[str]:
    """Return an agent that pokes, which nobody has approved."""
    return writer(
        tools=[outside.tool("poke", effect="external")],
        model=model or ScriptedModel((call("poke"), exit_with("poked"))),
    )


@pytest.mark.parametrize("way", ["run", "call"])
@pytest.mark.parametrize("kind", ["async", "sync"])
async def test_a_person_is_asked_for_its_calls(folder: Path, kind: str, way: str) -> None:
    outside = Outside()
    agent = sender(outside)

    async def slowly() -> str:
        """Have it sent."""
        return (await agent.run(text="x")).output

    def at_once() -> str:
        """Have it sent."""
        return agent.run_sync(text="x").output

    tool = Tool.from_function(slowly if kind == "async" else at_once, name="have", effect="write")
    limits = Limits(call_seconds=10)
    async with Session([tool], workspace=folder, approver=yes, limits=limits) as session:
        one = session.run("return await have()") if way == "run" else session.call("have")
        result = await one
    assert (result.value, result.error) == ("poked", None)
    assert outside.counts["poke"] == 1


async def test_a_person_is_asked_once_for_two_of_which_one_works_on(folder: Path) -> None:
    outside, waits = Outside(), asyncio.Event()
    asked: list[int] = []

    async def approver(pending: Sequence[Pending]) -> Mapping[str, Answer]:
        asked.append(len(pending))
        return await yes(pending)

    class Late(ScriptedModel):
        """Answers when the other agent's call waits."""

        @override
        async def complete(
            self, request: ModelRequest, *, on_text: OnText | None = None
        ) -> ModelReply:
            await waits.wait()
            return await super().complete(request, on_text=on_text)

    def heard(event: Event) -> None:
        if event.kind == "verdict" and event.data["verdict"] == "ask":
            waits.set()

    first = sender(outside)
    second = sender(outside, Late((call("poke"), exit_with("poked"))))

    async def have() -> list[str]:
        """Have both sent."""
        both = await asyncio.gather(first.run(text="x"), second.run(text="x"))
        return [each.output for each in both]

    tool, limits = Tool.from_function(have, effect="write"), Limits(call_seconds=10)
    async with Session(
        [tool], workspace=folder, approver=approver, limits=limits, sinks=[heard]
    ) as session:
        result = await session.run("return await have()")
    assert result.value == ["poked", "poked"]
    assert asked == [2]


async def test_nothing_is_left_to_it_once_the_tools_call_is_over(folder: Path) -> None:
    agent, left = writer(), list[asyncio.Task[Any]]()

    async def later() -> object:
        await asyncio.sleep(0)
        try:
            return await agent.run(text="x")
        except ToolError as error:
            return error.message

    async def have() -> str:
        """Leave it to a task."""
        left.append(asyncio.create_task(later()))
        return "begun"

    async def rest() -> str:
        """Wait for that task."""
        return str(await left[0])

    tools = [Tool.from_function(each, effect="read", lane=None) for each in (have, rest)]
    async with Session(tools, workspace=folder, policy=OPEN) as session:
        result = await session.run("await have()\nreturn await rest()")
    assert "its call is over" in str(result.value)
    assert list(folder.iterdir()) == []


async def test_containers_nest_four_deep(folder: Path) -> None:
    async def body(context: Context, left: int) -> str:
        """Call itself."""
        if not left:
            return "there"
        done = await context.dispatch(Call(tool="box", arguments={"left": left - 1}, origin="code"))
        return str(getattr(done, "value", None) or getattr(done, "message", None))

    box = Tool.from_function(body, name="box", effect="read", container=True)
    async with Session([box], workspace=folder) as session:
        result = await session.run("return [await box(3), await box(4)]")
    there, deeper = result.value
    assert there == "there"
    assert "nest 4 deep" in deeper
