"""The less trodden ways through the door, each by way of a session."""

from collections.abc import Callable
from pathlib import Path

import anyio
import pytest
from pydantic import BaseModel

from lineshaft import (
    Answer,
    ConfigError,
    Context,
    Event,
    Limits,
    Pending,
    Policy,
    Session,
    Tool,
    ToolError,
    WorkspacePath,
    kit,
    tool,
)
from lineshaft.gate import RunClock
from lineshaft.gate._paths import with_paths_decided
from lineshaft.values import NO_SECRETS, Call, Dispatch, Failure, Resolved, SecretFinder
from lineshaft.workspace import Folder, FolderView

OPEN = Policy(mode="open")
ASK_RUN = {"id": "ask-run", "tool": "run_script", "verdict": "ask", "reason": "scripts ask"}


def answering(allow: bool) -> Callable[[tuple[Pending, ...]], object]:
    async def approver(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        return {p.id: Answer(allow=allow, reason="as told") for p in pending}

    return approver


@pytest.mark.parametrize(("allow", "status"), [(True, "success"), (False, "refused")])
async def test_a_run_itself_may_have_to_be_approved(
    tmp_path: Path, allow: bool, status: str
) -> None:
    policy = Policy.from_dict({"mode": "open", "rules": [ASK_RUN]})
    approver = answering(allow)
    async with Session(workspace=tmp_path, policy=policy, approver=approver) as session:  # pyright: ignore[reportArgumentType]  # an approver by its shape
        result = await session.run("return 1")
    assert result.status == status


async def test_a_run_that_a_rule_denies_is_refused_with_the_rule(tmp_path: Path) -> None:
    rule = {"id": "no-scripts", "tool": "run_script", "verdict": "deny", "reason": "not here"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with Session(workspace=tmp_path, policy=policy) as session:
        result = await session.run("return 1")
    assert result.status == "refused"
    assert result.error is not None
    assert "no-scripts" in result.error.message
    assert "not here" in result.error.message


async def test_a_stop_verdict_on_a_direct_call_refuses_it(tmp_path: Path) -> None:
    rule = {"id": "halt", "tool": "list_files", "verdict": "stop"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with Session(kit.tools(), workspace=tmp_path, policy=policy) as session:
        with anyio.fail_after(10):
            result = await session.call("list_files")
    assert result.error is not None
    assert (result.error.code, result.status, result.rule) == ("E_DENIED", "refused", "halt")


@pytest.mark.parametrize(("name", "hint"), [("read_fil", "read_file"), ("zzzz", "search_tools")])
async def test_an_unknown_tool_comes_with_a_hint(tmp_path: Path, name: str, hint: str) -> None:
    async with Session(kit.tools(), workspace=tmp_path) as session:
        result = await session.call(name)
    assert result.error is not None
    assert result.error.code == "E_UNKNOWN_TOOL"
    assert hint in result.error.hint


@pytest.mark.parametrize("kind", ["call_asked", "verdict", "call_started", "call_finished"])
async def test_a_direct_call_ends_where_it_cannot_be_recorded(tmp_path: Path, kind: str) -> None:
    ran: list[str] = []

    def full(event: Event) -> None:
        if event.kind == kind:
            raise OSError(28, "No space left on device")

    @tool(effect="read")
    async def poke() -> None:
        """Poke."""
        ran.append("x")

    async with Session([poke], workspace=tmp_path, sinks=[full]) as session:
        with anyio.fail_after(10):
            result = await session.call("poke")
    assert result.error is not None
    assert result.error.code == "E_RECORD"
    assert ran == (["x"] if kind == "call_finished" else [])


class Pair(BaseModel):
    """Two files."""

    left: WorkspacePath
    right: WorkspacePath | None = None


@tool(effect="read")
async def inside(
    paths: list[WorkspacePath], pair: Pair, more: dict[str, WorkspacePath]
) -> list[str]:
    """Return the paths as they were decided."""
    return [*paths, pair.left, str(pair.right), *more.values()]


async def test_paths_inside_lists_models_and_dicts_are_decided(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    async with Session([inside], workspace=tmp_path) as session:
        arguments = {"paths": ["./a/../b", "@project/c"], "pair": {"left": "a/./d"}, "more": {}}
        result = await session.call("inside", arguments)
        arguments["more"] = {"k": "../out"}
        refused = await session.call("inside", arguments)
        arguments["more"] = {"k": "x/../y"}
        arguments["pair"] = {"left": "l", "right": "./r"}
        whole = await session.call("inside", arguments)
    assert result.value == ["b", "c", "a/d", "None"]
    assert refused.error is not None
    assert refused.error.code == "E_SANDBOX_VIOLATION"
    assert whole.value == ["b", "c", "l", "r", "y"]


async def test_a_call_uses_its_workspace_within_what_policy_shows(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    (tmp_path / ".env").write_text("TOKEN=x")

    async def work(context: Context) -> list[object]:
        """Use the workspace in every way."""
        space = context.workspace
        found: list[object] = ["run" in space.capabilities, (await space.resolve("./a.txt")).path]
        found.append((await space.stat("a.txt")).kind)
        await space.write("b.txt", b"b")
        await space.move("b.txt", "c.txt")
        await space.delete("c.txt")
        found.append([entry.path async for entry in space.walk()])
        for act in (space.read, space.stat, space.delete):
            try:
                await act(".env")
            except ToolError as error:
                found.append(error.code)
        try:
            space.begin()
        except ToolError as error:
            found.append(error.code)
        for hosts in (space.recover(), space.undo("run")):
            try:
                await hosts
            except ToolError as error:
                found.append(error.code)
        return found

    async with Session(
        [Tool.from_function(work, effect="write")], workspace=tmp_path, policy=OPEN
    ) as session:
        result = await session.call("work")
    refused = ["E_DENIED"] * 6
    assert result.value == [True, "a.txt", "file", ["a.txt"], *refused]
    assert (tmp_path / ".env").exists()


async def test_a_tool_that_says_it_only_reads_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("x")

    async def looks(context: Context) -> list[str]:
        """Try all that changes files."""
        space, found = context.workspace, list[str]()
        for change in (
            space.write("a.txt", b"y"),
            space.make_folder("d"),
            space.link("l", "a.txt"),
            space.move("a.txt", "b.txt"),
            space.delete("a.txt"),
        ):
            try:
                await change
            except ToolError as error:
                found.append(error.code)
        return [*found, (await space.read("a.txt")).data.decode()]

    async with Session(
        [Tool.from_function(looks, effect="read")],
        workspace=tmp_path,
        policy=Policy(mode="read"),
    ) as session:
        result = await session.run("return await looks()")
    assert result.value == [*["E_DENIED"] * 5, "x"]
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("a.txt", "x")]


async def test_what_a_tool_may_not_do_is_said(tmp_path: Path) -> None:
    async def asks(context: Context) -> str:
        """Ask, call and notify, without being allowed to."""
        done = await context.dispatch(Call(tool="asks", arguments={}, origin="code"))
        assert isinstance(done, Failure)
        context.notify("bogus", {})
        try:
            await context.elicit("your name?", {"type": "string"})
        except ToolError as error:
            return f"{done.code} {error.code}"
        return "answered"

    events: list[Event] = []
    async with Session(
        [Tool.from_function(asks, effect="read")], workspace=tmp_path, sinks=[events.append]
    ) as session:
        result = await session.call("asks")
    assert result.value == "E_DENIED E_DENIED"
    assert "bogus" not in [event.kind for event in events]


async def test_an_error_of_ours_inside_a_tool_is_a_failed_call(tmp_path: Path) -> None:
    @tool(effect="read")
    async def broken() -> None:
        """Raise what only a caller should see."""
        raise ConfigError("a wrong setting")

    @tool(effect="read")
    async def silent() -> None:
        """Raise without a word."""
        raise KeyError

    async with Session([broken, silent], workspace=tmp_path) as session:
        ours = await session.call("broken")
        theirs = await session.call("silent")
    assert ours.error is not None
    assert (ours.error.code, "a wrong setting" in ours.error.message) == ("E_TOOL_FAILED", True)
    assert theirs.error is not None
    assert theirs.error.message.endswith("KeyError")


async def test_a_tool_may_say_that_nobody_knows_whether_it_acted(tmp_path: Path) -> None:
    @tool(effect="external")
    async def lost() -> None:
        """Lose its connection."""
        raise ToolError("E_TOOL_FAILED", "the line is dead", unknown=True)

    async with Session([lost], workspace=tmp_path, policy=OPEN) as session:
        done = await session.call("lost")
        run = await session.run("await lost()")
    assert done.error is not None
    assert (done.status, done.error.message) == ("unknown", "the line is dead")
    assert [call.status for call in run.calls] == ["unknown"]


async def test_an_answer_for_the_run_holds_for_calls_that_wait_and_that_come_later(
    tmp_path: Path,
) -> None:
    asked: list[int] = []

    async def approver(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        asked.append(len(pending))
        return {pending[0].id: Answer(allow=True, scope="run")}

    @tool(effect="read")
    async def poke(number: int) -> int:
        """Poke."""
        return number

    rule = {"id": "ask", "tool": "poke", "verdict": "ask"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    script = """
first = await asyncio.gather(*[poke(number=i) for i in range(3)])
return [*first, await poke(number=3)]
"""
    async with Session([poke], workspace=tmp_path, policy=policy, approver=approver) as session:
        result = await session.run(script, limits=Limits(seconds=10))
    assert result.value == [0, 1, 2, 3]
    assert asked == [3]


def test_a_clock_stands_still_as_long_as_anybody_is_waited_for() -> None:
    moves: list[str] = []
    outer = RunClock(100, goes_on=lambda: moves.append("outer"))
    inner = RunClock(10, goes_on=lambda: moves.append("inner"), around=outer)
    assert (outer.depth, inner.depth) == (0, 1)
    with inner.paused():
        left = (outer.remaining, inner.remaining)
        with inner.paused():
            assert (outer.remaining, inner.remaining) == left
        assert (outer.remaining, inner.remaining) == left
        assert moves == []
    assert sorted(moves) == ["inner", "outer"]
    assert not inner.stands
    assert inner.remaining <= 10


async def test_a_dispatch_that_middleware_kept_makes_no_call_after_the_run(tmp_path: Path) -> None:
    kept: list[Dispatch] = []
    ran: list[str] = []

    def keep(inner: Dispatch) -> Dispatch:
        kept.append(inner)
        return inner

    @tool(effect="read")
    async def poke() -> None:
        """Poke."""
        ran.append("x")

    async with Session([poke], workspace=tmp_path, middleware=[keep]) as session:
        await session.run("return 1")
        done = await kept[0](Call(tool="poke", arguments={}, origin="code"))
    assert isinstance(done, Failure)
    assert (done.code, ran) == ("E_DENIED", [])


class Odd(Folder):
    """A workspace that breaks where nobody expects it."""

    def begin(
        self,
        run_id: str = "",
        *,
        atomic: bool = False,
        packed: bytes | None = None,
        secrets: SecretFinder = NO_SECRETS,
    ) -> FolderView:
        """Return a view that cannot decide a path."""
        view = super().begin(run_id, atomic=atomic, packed=packed, secrets=secrets)
        decide = view.resolve

        async def resolve(path: str, *, follow: bool = True) -> Resolved:
            if path == "odd":
                raise RuntimeError("not a workspace's error")
            return await decide(path, follow=follow)

        view.resolve = resolve
        return view


async def test_a_workspace_that_breaks_its_contract_fails_the_call_only(tmp_path: Path) -> None:
    async with Session(kit.tools(), workspace=Odd(tmp_path)) as session:
        result = await session.call("list_files", {"path": "odd"})
        fine = await session.call("list_files")
    assert result.error is not None
    assert result.error.code == "E_TOOL_FAILED"
    assert fine.error is None


async def test_a_call_that_is_cancelled_while_a_person_thinks_needs_no_answer(
    tmp_path: Path,
) -> None:
    asked, go_on = anyio.Event(), anyio.Event()

    async def approver(pending: tuple[Pending, ...]) -> dict[str, Answer]:
        asked.set()
        await go_on.wait()
        return {p.id: Answer(allow=True) for p in pending}

    rule = {"id": "ask", "tool": "list_files", "verdict": "ask"}
    policy = Policy.from_dict({"mode": "open", "rules": [rule]})
    async with Session(
        kit.tools(), workspace=tmp_path, policy=policy, approver=approver
    ) as session:
        run = await session.start("await list_files()")
        await asked.wait()
        run.cancel()
        go_on.set()
        result = await run.result()
        again = await session.call("list_files")
    assert result.status == "cancelled"
    assert again.error is None


async def test_what_is_no_path_in_the_place_of_one_is_left_to_validation() -> None:
    async def decide(path: str, follow: bool) -> str:
        return f"{path}:{follow}"

    patterns = [("a", "*"), ("b", "c"), ("d",)]
    arguments: dict[str, object] = {"a": 5, "b": {"c": "x"}, "d": None}
    decided = await with_paths_decided(arguments, patterns, entries=[("b", "c")], decide=decide)
    assert decided == {"a": 5, "b": {"c": "x:False"}, "d": None}


async def test_the_root_of_the_disk_may_be_a_workspace() -> None:
    async with Session(kit.tools(), workspace="/") as session:
        result = await session.call("read_file", {"path": "no/such/file"})
    assert result.error is not None
    assert "no/such/file" in result.error.message


async def test_a_call_whose_turn_comes_after_the_run_is_not_made(tmp_path: Path) -> None:
    kept: list[Dispatch] = []
    ran: list[str] = []
    inside, go_on = anyio.Event(), anyio.Event()

    def keep(inner: Dispatch) -> Dispatch:
        kept.append(inner)
        return inner

    @tool(effect="write")
    async def slow(name: str) -> None:
        """Hold the lane."""
        ran.append(name)
        inside.set()
        await go_on.wait()

    results: list[object] = []

    async def call(name: str) -> None:
        made = Call(tool="slow", arguments={"name": name}, origin="code")
        results.append(await kept[0](made))

    @tool(effect="read")
    async def begin() -> None:
        """Let somebody outside use the run's way in."""
        group.start_soon(call, "first")
        await inside.wait()
        group.start_soon(call, "second")
        await anyio.wait_all_tasks_blocked()

    async with (
        Session([slow, begin], workspace=tmp_path, middleware=[keep]) as session,
        anyio.create_task_group() as group,
    ):
        await session.run("await begin()")
        go_on.set()
    assert ran == ["first"]
    assert [type(result).__name__ for result in results] == ["Value", "Failure"]
