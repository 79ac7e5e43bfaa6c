"""Without a jail a program works over a private copy, once a person was asked about it."""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import anyio
import psutil
import pytest

from lineshaft import Policy, Session, Tool, kit
from lineshaft.agents import VerifiedMicroagent
from lineshaft.errors import ConfigError
from lineshaft.kit.view import run_in_view
from lineshaft.processes.programs import CommandOptions
from lineshaft.testing import ScriptedModel, call, exit_with
from lineshaft.values import Answer, Context, Pending, PythonOptions

pytestmark = pytest.mark.usefixtures("nothing_is_left")

NONE = PythonOptions(boundary="none")
OPEN = Policy("open")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    return folder


def looking(*, keep: bool = False, viewed: bool = True, seconds: float = 20) -> Tool[..., Any]:
    async def look(line: str, call: Context) -> dict[str, Any]:
        """Run a shell line in a view."""
        options = CommandOptions("sh", ("-c", line), seconds=seconds)
        seen = await run_in_view(call, options, keep=keep)
        return {
            "code": seen.result.exit_code,
            "lines": [[line.stream, line.text] for line in seen.result.lines],
            "changed": list(seen.changed),
            "boundary": seen.boundary,
        }

    return Tool.from_function(look, effect="exec", jailed=True, viewed=viewed, needs_disk=False)


class Person:
    """Answers each question, and notes it."""

    def __init__(self, *, allow: bool = True) -> None:
        self.asked: list[str] = []
        self._allow = allow

    async def __call__(self, pending: Sequence[Pending]) -> Mapping[str, Answer]:
        self.asked += [each.tool for each in pending]
        return {each.id: Answer(allow=self._allow) for each in pending}


async def test_it_is_asked_about_and_its_writes_are_thrown_away(work: Path) -> None:
    person = Person()
    script = """
await write_file("b.txt", "two")
return await look("pwd; cat a.txt b.txt; echo x > c.txt; rm a.txt; echo problem >&2; exit 3")
"""
    (work / ".env").write_text("KEY=1")
    tools = [looking(), kit.tools()]
    async with Session(tools, workspace=work, python=NONE, approver=person) as session:
        done = await session.run(script)
    assert person.asked == ["look"]
    assert done.value["code"] == 3
    assert done.value["boundary"] == "none"
    assert done.value["changed"] == ["a.txt", "c.txt"]
    assert [text for stream, text in done.value["lines"] if stream == "stdout"] == [
        ".",
        "one",
        "two",
    ]
    assert sorted(path.name for path in work.iterdir()) == [".env", "a.txt", "b.txt"]
    assert done.landed == 1, "at the end, not before the program"


async def test_a_view_that_a_sync_function_begins_counts_as_one_without_a_jail(work: Path) -> None:
    inner = cast("Callable[[str, Context], Awaitable[dict[str, Any]]]", looking().function)

    def look(line: str, call: Context) -> object:
        return inner(line, call)

    tool = Tool.from_function(look, effect="exec", jailed=True, viewed=True, needs_disk=False)
    async with Session([tool], workspace=work, python=NONE, policy=OPEN) as session:
        done = await session.call("look", {"line": "cat a.txt"})
    assert done.value["boundary"] == "none"


async def test_what_a_generator_makes_is_staged_and_undone(work: Path) -> None:
    line = "cat a.txt > made; rm a.txt; ls -A > /dev/null"
    async with Session(
        [looking(keep=True)], workspace=work, python=NONE, policy=Policy("open")
    ) as session:
        failed = await session.call("look", {"line": f"{line}; exit 1"})
        assert failed.value["code"] == 1
        assert [path.name for path in work.iterdir()] == ["a.txt"]
        done = await session.call("look", {"line": line})
        assert [path.name for path in work.iterdir()] == ["made"]
        await session.undo(done.run_id)
    assert [path.name for path in work.iterdir()] == ["a.txt"]


async def test_nobody_to_ask_and_a_no_run_nothing(work: Path) -> None:
    line = {"line": f"echo x > {work}/ran"}
    async with Session([looking()], workspace=work, python=NONE) as session:
        waits = await session.call("look", line)
    assert [each.tool for each in waits.pending] == ["look"]
    person = Person(allow=False)
    async with Session([looking()], workspace=work, python=NONE, approver=person) as session:
        refused = await session.call("look", line)
    assert refused.error is not None
    assert refused.error.code == "E_DENIED"
    assert not (work / "ran").exists()


@pytest.mark.long
async def test_a_time_out_and_a_cancel_leave_nothing(work: Path) -> None:
    line = {"line": "mktemp; (setsid sh -c 'trap \"\" TERM; sleep 99' &) ; sleep 99"}
    tool, policy = looking(seconds=1), Policy("open")
    async with Session([tool], workspace=work, python=NONE, policy=policy) as session:
        done = await session.call("look", line)
        assert done.error is not None
        assert done.error.code == "E_TOOL_TIMEOUT"
    async with Session([looking()], workspace=work, python=NONE, policy=policy) as session:
        with anyio.move_on_after(2) as scope:
            await session.call("look", line)
        assert scope.cancelled_caught
    # A tree that ignores SIGTERM takes longer to end than a cancelled call is waited for.
    if behind := [task for task in asyncio.all_tasks() if task.cancelling()]:
        await asyncio.wait(behind)


async def test_temporary_files_of_a_program_are_its_own_and_end_with_it(work: Path) -> None:
    line = {"line": "mktemp -d; echo $TMPDIR; echo $TEMP; echo $TMP; exit 3"}
    async with Session([looking()], workspace=work, python=NONE, policy=OPEN) as session:
        both = await asyncio.gather(session.call("look", line), session.call("look", line))
    told = [[text for _, text in done.value["lines"]] for done in both]
    for made, *named in told:
        assert len({*named}) == 1
        assert Path(made).parent == Path(named[0])
        assert not Path(named[0]).exists()
    assert told[0][1] != told[1][1]


KILLED = """
import asyncio, sys
from kit.test_view_without_jail import NONE, OPEN, looking
from lineshaft import Session

async def main():
    async with Session([looking()], workspace=sys.argv[1], python=NONE, policy=OPEN) as session:
        await session.call("look", {"line": "mktemp; touch $TMPDIR/made; sleep 99"})

asyncio.run(main())
"""


@pytest.mark.long
async def test_what_a_killed_process_leaves_is_removed_by_the_next_view(work: Path) -> None:
    private = Path(tempfile.gettempdir()) / f"lineshaft-{os.geteuid()}"
    paths = os.pathsep.join([str(Path(__file__).parents[1]), *sys.path])
    host = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", KILLED, str(work)), env={**os.environ, "PYTHONPATH": paths}
    )
    while not list(private.glob("*/temporary/made")):
        assert host.returncode is None
        await asyncio.sleep(0.02)
    inside = psutil.Process(host.pid).children(recursive=True)
    host.kill()
    await host.wait()
    while any(each.is_running() for each in inside):
        await asyncio.sleep(0.02)
    async with Session([looking()], workspace=work, python=NONE, policy=OPEN) as session:
        done = await session.call("look", {"line": "ls $TMPDIR/../.."})
    assert len(done.value["lines"]) == 1, "of this program alone"


async def ends(agent: Any, model: Any, work: Path, person: Person) -> Any:
    async with Session(
        [agent.with_model(model)], workspace=work, python=NONE, approver=person
    ) as s:
        return await s.call(f"agents.{agent.name}", {"text": "go"})


async def test_an_agents_tools_and_its_check_ask_as_processes_do(work: Path) -> None:
    async def verify(result: str, given: Mapping[str, object], call: Context) -> str | None:
        seen = await run_in_view(call, CommandOptions("grep", ("-q", "two", "a.txt")))
        return None if seen.result.exit_code == 0 else "there is no two"

    def agent(*, programs: bool) -> VerifiedMicroagent[str]:
        return VerifiedMicroagent[str](
            name="fixer",
            instructions="Fix it.",
            tools=[kit.tools("write_file"), looking()],
            verify=verify,
            programs=programs,
        )

    replies = [
        call("look", line="cat a.txt"),
        exit_with("done"),
        call("write_file", path="a.txt", content="two\n"),
        exit_with("done"),
    ]
    person = Person()
    done = await ends(agent(programs=True), ScriptedModel(replies), work, person)
    assert done.error is None, done.error
    assert person.asked == ["look", "validate_result", "validate_result"]
    assert (work / "a.txt").read_text() == "two\n"
    person = Person()
    silent = [exit_with("done"), call("GiveUp", reason="x")]
    await ends(agent(programs=False), ScriptedModel(silent), work, person)
    assert person.asked == [], "its check runs in a jail or not at all"
    refusing, before = Person(allow=False), (work / "a.txt").read_bytes()
    replies = [call("write_file", path="a.txt", content="two and\n"), exit_with("done")]
    refused = await ends(
        agent(programs=True),
        ScriptedModel([*replies, call("GiveUp", reason="x")]),
        work,
        refusing,
    )
    assert refused.error is not None
    assert refusing.asked == ["validate_result"]
    assert (work / "a.txt").read_bytes() == before


def test_containers_and_tools_that_need_the_disk_run_no_programs_in_views() -> None:
    def nothing() -> None:
        """Do nothing."""

    for wrong in ({"container": True}, {"effect": "exec", "needs_disk": True}):
        with pytest.raises(ConfigError, match="viewed is not for"):
            Tool.from_function(nothing, viewed=True, **wrong)  # pyright: ignore[reportArgumentType]  it is about that
