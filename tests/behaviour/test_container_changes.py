"""Changes of containers: they are their caller's once the container has succeeded."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import pytest

from lineshaft import Answer, Policy, Session, Tool, ToolError, kit
from lineshaft.values import Call, Change, Context, Failure, Finding, Stage
from support import Make, Outside

pytestmark = pytest.mark.behaviour("C13", "F28")

OPEN = Policy(mode="open")


def steps(name: str, *calls: tuple[str, dict[str, Any]], fails: str = "", **facts: Any) -> Tool:
    """Return a container that makes calls, raises what they raise, and fails in the end if told."""

    async def body(context: Context) -> list[object]:
        """Make calls."""
        told: list[object] = []
        for tool, arguments in calls:
            done = await context.dispatch(Call(tool=tool, arguments=arguments, origin="code"))
            if isinstance(done, Failure):
                raise ToolError(done.code, done.message)
            told.append(done.value)
        if fails:
            raise ToolError("E_TOOL_FAILED", fails)
        return told

    return Tool.from_function(body, name=name, effect="read", container=True, **facts)


def write(path: str, content: str) -> tuple[str, dict[str, Any]]:
    return "write_file", {"path": path, "content": content}


READ: tuple[str, dict[str, Any]] = ("read_file", {"path": "f"})


async def test_a_container_sees_what_its_caller_staged_and_hands_up_what_it_changed(
    make: Make, folder: Path
) -> None:
    async with make(steps("box", READ, write("f", "two")), policy=OPEN) as session:
        result = await session.run(
            "await write_file('f', 'one')\n"
            "seen = await box()\n"
            "return [seen[0]['content'], (await read_file('f'))['content']]"
        )
        assert result.value == ["one", "two"]
        assert (folder / "f").read_text() == "two"
        assert [(c.path, c.kind, c.stage) for c in result.changes] == [("f", "created", 1)]
        await session.undo(result.run_id)
    assert not (folder / "f").exists()


async def test_a_container_that_fails_leaves_nothing_behind(make: Make, folder: Path) -> None:
    inner = steps("inner", write("of-inner", "x"))
    box = steps("box", write("of-box", "x"), ("inner", {}), fails="no")
    async with make(inner, box, policy=OPEN) as session:
        result = await session.run(
            "await write_file('own', 'x')\n"
            "try:\n"
            "    await box()\n"
            "except ToolError as error:\n"
            "    return [error.message, [e['path'] for e in (await list_files())['entries']]]"
        )
    assert result.value == ["no", ["own"]]
    assert [path.name for path in folder.iterdir()] == ["own"]
    assert [change.path for change in result.changes] == ["own"]
    assert result.dropped == ()


async def test_two_containers_that_change_one_file_do_not_overwrite_each_other(
    make: Make, folder: Path
) -> None:
    here: list[int] = []
    both = anyio.Event()

    async def meet() -> None:
        """Wait until both containers have read the file."""
        here.append(1)
        if len(here) == 2:
            both.set()
        await both.wait()

    boxes = [steps(name, READ, ("meet", {}), write("f", name)) for name in ("first", "second")]
    meeting = Tool.from_function(meet, effect="read", lane=None)
    (folder / "f").write_text("old")
    async with make(*boxes, meeting, policy=OPEN) as session:
        result = await session.run(
            "ends = await asyncio.gather(first(), second(), return_exceptions=True)\n"
            "return [e.code for e in ends if isinstance(e, ToolError)]"
        )
    assert result.value == ["E_STALE"]
    assert (folder / "f").read_text() in ("first", "second")


async def test_a_command_in_a_container_sees_its_changes_and_no_siblings(
    make: Make, folder: Path, outside: Outside
) -> None:
    shell = (
        "run_command",
        {"command": "sh", "args": ["-c", "cat own of-box; ls | sort | tr '\\n' ' '"]},
    )
    box = steps("box", write("of-box", "box\n"), shell)
    failing = steps(
        "failing", write("of-failing", "x"), ("run_command", {"command": "true"}), fails="no"
    )
    async with make(box, failing, policy=OPEN) as session:
        result = await session.run(
            "await write_file('own', 'own\\n')\n"
            "async def other():\n"
            "    try:\n"
            "        await failing()\n"
            "    except ToolError:\n"
            "        pass\n"
            "told = await box()\n"
            "await other()\n"
            "await write_file('last', 'x')\n"
            "return told[1]['stdout']"
        )
        assert result.value == "own\nbox\nof-box own "
        left = sorted(path.name for path in folder.iterdir())
        assert left == ["last", "of-box", "of-failing", "own"]
        told = {c.path: c.stage for c in result.changes}
        assert told == {"own": 1, "of-box": 1, "of-failing": 2, "last": 3}
        await session.undo(result.run_id)
    assert list(folder.iterdir()) == []


async def test_a_program_in_a_jail_does_not_see_what_a_sibling_keeps_back(
    make: Make, folder: Path
) -> None:
    box = steps("box", write("of-box", "x"), ("poke", {}))
    asks = Policy.from_dict(
        {"mode": "open", "rules": [{"id": "a", "tool": "poke", "verdict": "ask"}]}
    )

    async def person(pending: tuple[Any, ...]) -> dict[str, Answer]:
        assert not (folder / "of-box").exists()
        return {each.id: Answer(allow=True) for each in pending}

    async with make(box, policy=asks, approver=person) as session:
        result = await session.run(
            "async def listed():\n"
            "    told = await run_command('ls')\n"
            "    return told['stdout']\n"
            "return (await asyncio.gather(box(), listed()))[1]"
        )
    assert result.value == ""
    assert (folder / "of-box").exists()


async def test_changes_of_containers_wait_with_their_run_and_go_on(
    make: Make, folder: Path, tmp_path: Path
) -> None:
    boxes = [
        steps(
            name,
            READ,
            write(name, "x"),
            ("poke", {"what": name}),
            READ,
            write("f", name),
            replayable=True,
        )
        for name in ("first", "second")
    ]
    (folder / "f").write_text("old")
    asks = Policy.from_dict(
        {"mode": "open", "rules": [{"id": "a", "tool": "poke", "verdict": "ask"}]}
    )
    settings: dict[str, Any] = {"policy": asks, "store": str(tmp_path / "runs.db")}
    script = (
        "ends = await asyncio.gather(first(), second(), return_exceptions=True)\n"
        "return [e.code for e in ends if isinstance(e, ToolError)]"
    )
    async with make(*boxes, **settings) as session:
        waits = await session.run(script)
        assert [each.tool for each in waits.pending] == ["poke", "poke"]
        assert sorted(c.path for c in waits.changes) == ["first", "second"]
    assert [path.name for path in folder.iterdir()] == ["f"]
    async with make(*boxes, **settings) as session:
        result = await session.resume(waits.run_id, {"*": Answer(allow=True)})
    assert result.value == ["E_STALE"]
    left = (folder / "f").read_text()
    assert sorted(path.name for path in folder.iterdir()) == sorted(["f", left])


async def test_a_container_commits_before_it_returns_and_keeps_what_it_committed(
    make: Make, folder: Path
) -> None:
    said: list[bool] = []

    async def body(context: Context) -> None:
        """Commit between two writes, and fail."""
        for path in ("kept", "dropped"):
            said.append(context.uncommitted())
            await context.dispatch(
                Call(tool="write_file", arguments={"path": path, "content": "x"}, origin="code")
            )
            if path == "kept":
                said.append(await context.commit())
        raise ToolError("E_TOOL_FAILED", "no")

    box = Tool.from_function(body, name="box", effect="read", container=True)
    async with make(box, policy=OPEN) as session:
        result = await session.run("try:\n    await box()\nexcept ToolError:\n    pass")
    assert result.status == "success"
    assert [path.name for path in folder.iterdir()] == ["kept"]
    assert said == [False, True, True]


async def test_where_changes_land_at_once_containers_keep_nothing_back(folder: Path) -> None:
    tools = [kit.tools(), steps("box", write("f", "x"), fails="no")]
    async with Session(tools, workspace=folder, policy=OPEN, atomic=False) as session:
        result = await session.run("try:\n    await box()\nexcept ToolError:\n    pass")
    assert result.status == "success"
    assert (folder / "f").read_text() == "x"


async def test_where_changes_land_at_once_there_is_nothing_to_commit(folder: Path) -> None:
    async def body(context: Context) -> list[bool]:
        """Write and commit."""
        await context.dispatch(
            Call(tool="write_file", arguments={"path": "f", "content": "x"}, origin="code")
        )
        return [context.uncommitted(), await context.commit()]

    box = Tool.from_function(body, name="box", effect="read", container=True)
    tools = [kit.tools(), box]
    async with Session(tools, workspace=folder, policy=OPEN, atomic=False) as session:
        result = await session.run("return await box()")
    assert result.value == [False, False]
    assert (folder / "f").read_text() == "x"


async def test_a_commit_that_has_begun_is_carried_out_though_the_container_is_given_up(
    make: Make, folder: Path
) -> None:
    reached, go_on = anyio.Event(), anyio.Event()

    async def guard(changes: Sequence[Change], stage: Stage) -> list[Finding]:
        reached.set()
        await go_on.wait()
        return []

    async def wait_for_guard() -> None:
        """Wait until the commit has begun."""
        await reached.wait()

    async def let_guard_go() -> None:
        """Let the guard say that all is well."""
        go_on.set()

    async def body(context: Context) -> None:
        """Write, commit, write."""
        for path in ("kept", "dropped"):
            await context.dispatch(
                Call(tool="write_file", arguments={"path": path, "content": "x"}, origin="code")
            )
            await context.commit()

    tools = [
        Tool.from_function(body, name="box", effect="read", container=True),
        *(
            Tool.from_function(each, effect="read", lane=None)
            for each in (wait_for_guard, let_guard_go)
        ),
    ]
    async with make(*tools, policy=OPEN, guards=[guard]) as session:
        result = await session.run(
            "task = asyncio.ensure_future(box())\n"
            "await wait_for_guard()\n"
            "task.cancel()\n"
            "await asyncio.sleep(0)\n"  # it is withdrawn before the guard goes on
            "await let_guard_go()\n"
            "await asyncio.wait([task])\n"
            "return task.cancelled()"
        )
    assert result.value is True
    assert [path.name for path in folder.iterdir()] == ["kept"]
    assert [change.path for change in result.changes] == ["kept"]
