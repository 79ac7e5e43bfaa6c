"""Calls of containers: their approvals, their order, their identity."""

from collections.abc import Mapping
from pathlib import Path

import anyio
import pytest

from lineshaft import Answer, ConfigError, Pending, Policy, Session, Tool, WorkspacePath, kit, tool
from lineshaft.values import Call, Context, Failure, Value
from support import Make, Outside

pytestmark = pytest.mark.behaviour("C13")

ASK = {"id": "ask", "tool": "po*", "verdict": "ask"}
ASKS = Policy.from_dict({"mode": "open", "rules": [ASK]})


class Person:
    """Says yes for the run to everything, and notes what was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def __call__(self, pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        self.asked += [each.tool for each in pending]
        return {each.id: Answer(allow=True, scope="run") for each in pending}


async def called(context: Context, name: str, **arguments: object) -> object:
    done = await context.dispatch(Call(tool=name, arguments=arguments, origin="code"))
    return done.code if isinstance(done, Failure) else done.value


def box(name: str, *calls: str) -> Tool:
    """Return a container that makes some calls, one after the other."""

    async def body(context: Context) -> list[object]:
        """Make calls."""
        return [await called(context, each) for each in calls]

    return Tool.from_function(body, name=name, effect="read", container=True)


async def test_a_yes_for_the_run_is_for_one_tool_of_a_rule(make: Make, outside: Outside) -> None:
    person = Person()
    async with make(outside.tool("pour"), policy=ASKS, approver=person) as session:
        result = await session.run("return [await poke(), await poke(), await pour()]")
    assert result.value == [1, 2, 1]
    assert person.asked == ["poke", "pour"]


async def test_a_yes_for_the_run_is_for_the_container_that_asked_and_those_in_it(
    make: Make,
) -> None:
    person = Person()
    tools = [box("outer", "poke", "inner"), box("inner", "poke"), box("other", "poke")]
    async with make(*tools, policy=ASKS, approver=person) as session:
        script = "return [await outer(), await other(), await poke(), await inner()]"
        result = await session.run(script)
    assert result.value == [[1, [2]], [3], 4, [5]]
    assert person.asked == ["poke"] * 3


async def test_a_yes_for_the_run_holds_for_calls_of_containers_that_wait(make: Make) -> None:
    asked: list[int] = []

    async def person(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.append(len(pending))
        direct = [each.id for each in pending if each.arguments["what"] == "direct"]
        return {direct[0]: Answer(allow=True, scope="run")}

    async def body(context: Context) -> object:
        """Poke."""
        return await called(context, "poke", what="inside")

    inside = Tool.from_function(body, name="inside", effect="read", container=True)
    script = "return sorted(await asyncio.gather(inside(), poke(what='direct'), inside()))"
    async with make(inside, policy=ASKS, approver=person) as session:
        result = await session.run(script)
    assert result.value == [1, 2, 3]
    assert asked == [3]


async def test_a_read_does_not_wait_for_what_another_container_writes(folder: Path) -> None:
    (folder / "a.txt").write_text("text")
    (folder / "b.txt").write_text("text")
    was_read = anyio.Event()

    @tool(effect="write")
    async def slow(path: WorkspacePath) -> str:
        """Write for as long as nobody has read."""
        del path
        await was_read.wait()
        return "written"

    async def read(context: Context) -> object:
        """Read."""
        done = await context.dispatch(
            Call(tool="read_file", arguments={"path": "a.txt"}, origin="code")
        )
        was_read.set()
        return isinstance(done, Value)

    async def write(context: Context) -> object:
        """Write."""
        return await called(context, "slow", path="b.txt")

    reader = Tool.from_function(read, name="reader", effect="read", container=True)
    writer = Tool.from_function(write, name="writer", effect="read", container=True)
    tools = [kit.tools(), slow, reader, writer]
    async with Session(tools, workspace=folder, policy=Policy(mode="open")) as session:
        result = await session.run("return await asyncio.gather(writer(), reader())")
    assert result.value == ["written", True]


async def test_the_same_call_of_two_containers_has_two_identities(folder: Path) -> None:
    keys: list[str] = []

    @tool(effect="read", lane=None)
    async def note(what: str, context: Context) -> int:
        """Note the key of a call."""
        del what
        keys.append(context.key)
        return len(keys)

    async def body(context: Context) -> list[object]:
        """Make the same call twice."""
        return [await called(context, "note", what="same") for _ in range(2)]

    twice = Tool.from_function(body, name="twice", effect="read", container=True)
    async with Session([note, twice], workspace=folder, policy=Policy(mode="open")) as session:
        await session.run("await asyncio.gather(twice(), twice(), note(what='same'))")
    assert len(set(keys)) == 5
    numbers = sorted(key.rpartition("/")[2] for key in keys)
    assert numbers == ["1", "1", "1", "2", "2"]


def replayable(name: str, *calls: str) -> Tool:
    """Return a container that a run can pause in the middle of."""

    async def body(context: Context) -> list[object]:
        """Make calls."""
        return [await called(context, each) for each in calls]

    return Tool.from_function(body, name=name, effect="read", container=True, replayable=True)


async def test_a_container_that_still_works_is_not_cut_by_an_ask(make: Make) -> None:
    asked: list[int] = []

    async def person(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.append(len(pending))
        return {each.id: Answer(allow=True) for each in pending}

    async def late(context: Context) -> object:
        """Work for many turns of the loop, unless somebody is asked meanwhile; then poke."""
        for _ in range(5_000):
            if asked:
                break
            await anyio.lowlevel.checkpoint()
        return await called(context, "poke")

    working = Tool.from_function(late, effect="read", container=True, replayable=True)
    async with make(working, replayable("first", "poke"), policy=ASKS, approver=person) as session:
        result = await session.run("return await asyncio.gather(first(), late())")
    assert result.status == "success"
    assert asked == [2]


async def test_a_run_pauses_in_the_middle_of_replayable_containers(
    make: Make, outside: Outside, tmp_path: Path
) -> None:
    outer = replayable("outer", "poke", "inner")
    settings = {"policy": ASKS, "store": str(tmp_path / "runs.db")}
    async with make(outer, replayable("inner", "poke"), **settings) as session:
        result = await session.run("return await outer()")
        for _ in range(2):
            assert [each.tool for each in result.pending] == ["poke"]
            result = await session.resume(result.run_id, {"*": Answer(allow=True)})
    assert result.value == [1, [2]]
    assert outside.counts["poke"] == 2
    assert [(c.tool, c.status) for c in result.calls if c.status != "done"] == []


async def test_an_answer_to_all_is_for_calls_that_wait_and_not_for_their_containers(
    make: Make, tmp_path: Path
) -> None:
    settings = {"store": str(tmp_path / "runs.db")}
    box_asks = {"id": "box", "tool": "first", "verdict": "ask"}
    stricter = Policy.from_dict({"mode": "open", "rules": [ASK, box_asks]})
    async with make(replayable("first", "poke"), policy=ASKS, **settings) as session:
        result = await session.run("return await first()")
    assert [each.tool for each in result.pending] == ["poke"]
    async with make(replayable("first", "poke"), policy=stricter, **settings) as session:
        again = await session.resume(result.run_id, {"*": Answer(allow=True)})
        assert [each.tool for each in again.pending] == ["first"]
        third = await session.resume(result.run_id, {"*": Answer(allow=True)})
        assert [each.tool for each in third.pending] == ["poke"]
        done = await session.resume(result.run_id, {"*": Answer(allow=True)})
    assert done.status == "success"


def test_only_containers_are_replayable_or_bring_tools() -> None:
    with pytest.raises(ConfigError, match="are for containers"):
        tool(replayable=True)(lambda: None)
    with pytest.raises(ConfigError, match="no container"):
        Tool.from_function(lambda: None, name="plain").bringing({})
