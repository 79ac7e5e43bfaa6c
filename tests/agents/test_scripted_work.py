"""Agents that work by scripts, in one process: their tools, errors, changes, limits and policy."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from lineshaft import (
    Answer,
    ConfigError,
    Limits,
    Pending,
    Policy,
    RunResult,
    Session,
    Tool,
    ToolError,
    kit,
)
from lineshaft.agents import Microagent
from lineshaft.models import CallAnswer, ModelReply, ModelRequest
from lineshaft.testing import ScriptedEngine, ScriptedModel, call, exit_with
from lineshaft.values import Call, Context, Diverged, Failure, InnerScript, Outcome

pytestmark = pytest.mark.behaviour("A6")

FILES = kit.tools("read_file", "find_files", "write_file")
WORK = "return await agents.worker(text='x')"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    for number in range(3):
        (tmp_path / "work" / f"f{number}.md").write_text(f"x{number}\n")
    return tmp_path / "work"


class Worker:
    """An agent whose model has scripts executed, one after the other, and exits.

    Args:
        scripts: The scripts, or all arguments of a call.
        tools: Its tools.
    """

    def __init__(self, *scripts: str | dict[str, Any], tools: Sequence[Any] = (FILES,)) -> None:
        given = ({"code": each} if isinstance(each, str) else each for each in scripts)
        replies = [call("run_script", **each) for each in given]
        self.model = ScriptedModel([*replies, exit_with("done")])
        self.agent = Microagent[str](
            name="worker", instructions="Work.", tools=tools, model=self.model, scripts=True
        )

    @property
    def answers(self) -> list[CallAnswer]:
        """What its model was told of the scripts."""
        return [m for m in self.model.requests[-1].messages if isinstance(m, CallAnswer)]

    async def work(self, folder: Path, **settings: Any) -> RunResult:
        """Run it in a session."""
        defaults: dict[str, Any] = {"store": folder.parent / "r.db"}
        script, also = settings.pop("script", WORK), settings.pop("also", ())
        given = defaults | settings
        async with Session([self.agent, *also], workspace=folder, **given) as session:
            return await session.run(script)


async def test_a_model_works_by_a_program_over_several_tools(folder: Path) -> None:
    worker = Worker(
        {
            "code": "files = (await find_files('*.md'))['entries']\n"
            "found = await asyncio.gather(*[read_file(f['path']) for f in files])\n"
            "await write_file('all.txt', ''.join(f['content'] for f in found))\n"
            "print(len(found), 'files for', args[0])\n"
            "return [f['content'] for f in found]",
            "args": ["me"],
        }
    )
    result = await worker.work(folder)
    assert result.status == "success"
    [answer] = worker.answers
    assert answer.text == '3 files for me\n["x0\\n","x1\\n","x2\\n"]'
    assert (folder / "all.txt").read_text() == "x0\nx1\nx2\n"
    by_id = {each.id: each for each in result.calls}
    [script] = [each for each in result.calls if each.tool == "run_script"]
    assert by_id[script.parent or ""].tool == "agents.worker"
    inside = [each.tool for each in result.calls if each.parent == script.id]
    assert inside == ["find_files", "read_file", "read_file", "read_file", "write_file"]


async def test_a_model_is_told_of_scripts_and_of_the_tools_that_they_may_call(folder: Path) -> None:
    shut = Tool.from_function(_send, name="shut", effect="read", scriptable=False)
    worker = Worker("return 1", tools=[FILES, shut])
    await worker.work(folder)
    [offered] = [t for t in worker.model.requests[0].tools if t.name == "run_script"]
    assert "async def read_file(" in offered.description
    assert "shut" not in offered.description
    takes = str(offered.input_schema["properties"])
    assert all(f"'{name}': " in takes for name in ("code", "file", "args", "timeout_seconds"))
    assert worker.answers[0].text == "1"


async def test_a_script_of_a_file_is_executed(folder: Path) -> None:
    (folder / "s.py").write_text("return len(args)")
    worker = Worker(
        {"file": "s.py", "args": ["a", "b"]}, {"file": ".env"}, {"file": "s.py", "code": "return 1"}
    )
    await worker.work(folder)
    told = [each.text for each in worker.answers]
    assert told[0] == "2"
    assert "E_DENIED" in told[1]
    assert "either code or file" in told[2]


async def test_an_error_is_told_with_its_line_and_what_was_printed(folder: Path) -> None:
    worker = Worker("print('so far')\nfound = {}\nfound['x']")
    await worker.work(folder)
    [answer] = worker.answers
    assert answer.failed
    for part in ("so far", "(line 3): KeyError: 'x'", 'File "script.py", line 3'):
        assert part in answer.text


async def test_a_forgotten_await_is_repaired_and_wrong_arguments_are_found_before_the_run(
    folder: Path,
) -> None:
    worker = Worker(
        "return read_file('f1.md')['content']",
        "await write_file('new', 'x')\nawait read_file(path=3)",
    )
    result = await worker.work(folder)
    assert worker.answers[0].text == "x1\n"
    assert "E_CHECK (line 2)" in worker.answers[1].text
    assert "write_file" not in result.usage.calls


async def test_changes_of_a_script_that_fails_are_dropped_and_those_around_it_stay(
    folder: Path,
) -> None:
    worker = Worker(
        "await write_file('kept', 'x')",
        "await write_file('lost', 'x')\nawait write_file('kept', 'changed')\nassert False",
        "return [(await read_file('kept'))['content'], len((await find_files('lost'))['entries'])]",
    )
    result = await worker.work(folder)
    assert "its changes to files were dropped" in worker.answers[1].text
    assert worker.answers[2].text == '["x",0]'
    assert [each.path for each in result.changes] == ["kept"]
    assert not (folder / "lost").exists()


async def test_policy_refuses_inside_a_script_and_knows_that_an_agent_stands_around_it(
    folder: Path,
) -> None:
    rule = {"id": "no-agents", "tool": "write_file", "origin": "agent", "verdict": "deny"}
    policy = Policy.from_dict({"mode": "auto", "rules": [rule]})
    caught = (
        "try:\n    await write_file('x', 'y')\nexcept ToolError as e:\n    return [e.code, str(e)]"
    )
    worker = Worker(caught, "return (await read_file('.env'))")
    also = [kit.tools("write_file")]
    result = await worker.work(
        folder, policy=policy, also=also, script=f"await write_file('own', 'x')\n{WORK}"
    )
    assert "E_DENIED" in worker.answers[0].text
    assert "E_DENIED" in worker.answers[1].text
    assert [each.path for each in result.changes] == ["own"]


@pytest.mark.parametrize("mode", ["plan", "read"])
async def test_a_mode_holds_inside(folder: Path, mode: Any) -> None:
    worker = Worker("await write_file('x', 'y')")
    await worker.work(folder, policy=Policy(mode=mode))
    assert not (folder / "x").exists()


async def test_a_script_may_call_what_its_agent_may_and_no_more(folder: Path) -> None:
    poked = 0

    def poke() -> int:
        """Poke."""
        nonlocal poked
        poked += 1
        return poked

    outside = Tool.from_function(poke, effect="read")
    shut = Tool.from_function(poke, name="shut", effect="read", scriptable=False)
    worker = Worker("return 1", tools=[FILES, shut])
    names = ["poke", "run_script", "ask_model", "commit_changes", "search_tools", "shut"]
    forged = [Call(tool=each, arguments={}, origin="script") for each in names]
    engine = ScriptedEngine([*forged, Call(tool="poke", arguments={}, origin="code")])
    async with Session(
        [worker.agent, outside], workspace=folder, engine=engine, store=False
    ) as session:
        await session.call("agents.worker", {"text": "x"})
    ended = [done.code for done in engine.results.values() if isinstance(done, Failure)]
    assert len(ended) == len(names) + 1
    assert set(ended) <= {"E_DENIED", "E_UNKNOWN_TOOL"}
    assert poked == 0


async def test_calls_and_seconds_of_a_script_are_bounded(folder: Path) -> None:
    many = (
        "made = 0\n"
        "try:\n"
        "    while True:\n"
        "        await read_file('f1.md')\n"
        "        made += 1\n"
        "except ToolError as e:\n"
        "    return [made, e.code]"
    )
    worker = Worker(
        many,
        many,
        {"code": "return 1", "timeout_seconds": 601},
        {"code": "while True: pass", "timeout_seconds": 0.2},
        "import time\ntime.sleep(0.01)\nreturn 'still here'",
    )
    await worker.work(folder)
    told = [each.text for each in worker.answers]
    assert told[0] == '[50,"E_CALL_LIMIT"]'
    assert told[1].startswith(told[0])
    assert "timeout_seconds" in told[2]
    assert told[3].startswith("E_TOOL_TIMEOUT")
    assert told[4] == "still here"


async def test_a_script_that_is_refused_again_and_again_is_ended(folder: Path) -> None:
    worker = Worker(
        "while True:\n    try:\n        await write_file('x', 'y')\n"
        "    except ToolError:\n        pass"
    )
    result = await worker.work(folder, policy=Policy(mode="read"))
    assert "150 calls of this script were refused" in worker.answers[0].text
    assert result.status == "success"


async def test_where_scripts_are_switched_off_an_agent_has_none(folder: Path) -> None:
    worker = Worker("return 1")
    async with Session([worker.agent], workspace=folder, scripts=False, store=False) as session:
        done = await session.call("agents.worker", {"text": "x"})
    assert done.value == "done"
    assert "scripts are switched off" in worker.answers[0].text


async def test_an_agent_runs_by_itself_with_scripts(folder: Path) -> None:
    worker = Worker("await write_file('out', 'x')\nreturn 1")
    result = await worker.agent.run(text="x", workspace=folder, store=False)
    assert result.output == "done"
    assert (folder / "out").read_text() == "x"


def test_a_tool_of_the_same_name_is_refused() -> None:
    mine = Tool.from_function(_send, name="my_script", effect="read").with_name("other.run_script")
    Microagent[str](name="a", instructions="x", tools=[mine], scripts=True)
    with pytest.raises(ConfigError):
        Microagent[str](
            name="a",
            instructions="x",
            tools=[Tool.from_function(_send, name="run_script", effect="read")],
            scripts=True,
        )


async def test_two_agents_in_parallel_with_the_same_script_get_their_own_answers(
    folder: Path,
) -> None:
    count = 0

    def ticket() -> int:
        """Return the next number."""
        nonlocal count
        count += 1
        return count

    drawn = Tool.from_function(ticket, effect="read")
    script = {"code": "return [await ticket() for _ in range(3)]"}

    def last(request: ModelRequest) -> ModelReply:
        return exit_with(request.messages[-1].text)

    model = ScriptedModel([call("run_script", **script), last])
    agent = Microagent[str](
        name="worker", instructions="Work.", tools=[drawn], model=model, scripts=True
    )
    async with Session([agent], workspace=folder, store=False) as session:
        result = await session.run(
            "return await asyncio.gather(*[agents.worker(text='x') for _ in '12'])"
        )
    numbers = [int(n) for text in result.value for n in text.strip("[]").split(",")]
    assert sorted(numbers) == [1, 2, 3, 4, 5, 6]


async def test_a_person_who_is_there_is_asked_once_for_the_scripts_of_all_agents(
    folder: Path,
) -> None:
    asked: list[list[str]] = []

    async def person(pending: tuple[Pending, ...]) -> Mapping[str, Answer]:
        asked.append([each.tool for each in pending])
        return {each.id: Answer(allow=True) for each in pending}

    send = Tool.from_function(_send, name="send", effect="external")
    code = "return await asyncio.gather(send('a'), read_file('f1.md'), send('b'))"
    model = ScriptedModel([call("run_script", code=code), exit_with("done")])
    agent = Microagent[str](
        name="worker", instructions="Work.", tools=[FILES, send], model=model, scripts=True
    )
    async with Session([agent], workspace=folder, store=False, approver=person) as session:
        result = await session.run(
            "return await asyncio.gather(*[agents.worker(text='x') for _ in '12'])"
        )
    assert result.value == ["done", "done"]
    assert asked == [["send"] * 4]


async def test_a_preview_stops_before_a_call_of_a_script_that_acts(folder: Path) -> None:
    send = Tool.from_function(_send, name="send", effect="external")
    worker = Worker("await write_file('x', 'y')\nawait send('a')", tools=[FILES, send])
    async with Session([worker.agent], workspace=folder, store=False) as session:
        preview = await session.preview(WORK, with_models=True)
    assert preview.stopped_at is not None
    assert preview.stopped_at.tool == "send"
    assert not (folder / "x").exists()


async def test_an_engine_without_pauses_executes_scripts_in_which_nothing_waits(
    folder: Path,
) -> None:
    send = Tool.from_function(_send, name="send", effect="external")
    worker = Worker("return 1", tools=[FILES, send])
    engine = ScriptedEngine(
        [Call(tool="send", arguments={"to": "a"}, origin="script")], pauses="never"
    )
    store = folder.parent / "r.db"
    async with Session([worker.agent], workspace=folder, engine=engine, store=store) as session:
        done = await session.call("agents.worker", {"text": "x"})
    assert (done.value, done.pending) == ("done", ())
    [ended] = engine.results.values()
    assert isinstance(ended, Failure)
    assert ended.status == "refused"


class Departing(ScriptedEngine):
    """An engine whose scripts leave their record."""

    async def run(self, *args: Any, **settings: Any) -> Outcome:
        """Say so."""
        del args, settings
        return Diverged(message="the script did something else")


async def test_a_script_that_leaves_its_record_ends_the_whole_run(folder: Path) -> None:
    worker = Worker("return 1")
    async with Session([worker.agent], workspace=folder, engine=Departing()) as session:
        done = await session.call("agents.worker", {"text": "x"})
    assert done.error is not None
    assert done.error.code == "E_DIVERGED"
    assert len(worker.model.requests) == 1


async def test_a_container_of_a_user_executes_one_script_over_the_tools_that_it_may_call(
    folder: Path,
) -> None:
    said: list[object] = []

    async def box(context: Context) -> object:
        """Execute scripts."""
        narrow = await context.narrowed(tools=["read_file"])
        for code in ("return (await read_file('f1.md'))['content']", "return 2"):
            try:
                said.append((await narrow.script(InnerScript(code=code))).value)
            except ToolError as error:
                said.append(error.code)
        return None

    boxes = [
        Tool.from_function(box, name="scripts", effect="exec", container=True, calls_as="script"),
        Tool.from_function(box, name="other", effect="exec", container=True),
    ]
    async with Session([*boxes, kit.tools()], workspace=folder, store=False) as session:
        await session.run("await scripts()\nawait other()")
    assert said == ["x1\n", "E_DENIED", "E_DENIED", "E_DENIED"]


async def test_scripts_nest_twice_and_no_deeper(folder: Path) -> None:
    inner = Worker("return await read_file('f1.md')")
    model = ScriptedModel(
        [call("run_script", code="return await agents.worker(text='x')"), exit_with("done")]
    )
    outer = Microagent[str](
        name="outer", instructions="Work.", tools=[inner.agent], model=model, scripts=True
    )
    async with Session([outer], workspace=folder, store=False) as session:
        result = await session.run("return await agents.outer(text='x')")
        assert result.value == "done"
        assert "scripts nest 2 deep" in inner.answers[0].text
    inner, model = (
        Worker("return (await read_file('f1.md'))['content']"),
        ScriptedModel(
            [call("run_script", code="return await agents.worker(text='x')"), exit_with("done")]
        ),
    )
    outer = Microagent[str](
        name="outer", instructions="Work.", tools=[inner.agent], model=model, scripts=True
    )
    async with Session([outer], workspace=folder, store=False) as session:
        done = await session.call("agents.outer", {"text": "x"})
    assert done.value == "done"
    assert inner.answers[0].text == "x1\n"


async def test_a_cancelled_run_ends_the_scripts_in_it(folder: Path) -> None:
    begun, made = asyncio.Event(), list[str]()

    async def hang(what: str) -> None:
        """Hang."""
        made.append(what)
        begun.set()
        await asyncio.Event().wait()

    code = "try:\n    await hang('a')\nfinally:\n    await hang('b')"
    worker = Worker(code, tools=[Tool.from_function(hang, effect="read")])
    async with Session([worker.agent], workspace=folder, store=False) as session:
        run = await session.start(WORK)
        await begun.wait()
        run.cancel()
        result = await run.result()
    assert result.status == "cancelled"
    assert made == ["a"]


def _send(to: str) -> str:
    """Send something away."""
    return to


async def test_a_run_executes_eight_scripts_of_agents_at_once(folder: Path) -> None:
    inside: list[str] = []
    most: list[int] = []
    full = asyncio.Event()

    async def stay(name: str) -> None:
        """Stay until eight are here."""
        inside.append(name)
        most.append(len(inside))
        if len(most) == 8:
            async with Session(store=False, engine="wasm") as other:
                for _ in range(8):  # of those beyond, one would have come before these have run
                    (await other.run("return 1")).raise_for_status()
            full.set()
        await full.wait()
        inside.remove(name)

    def by_turn(request: ModelRequest) -> ModelReply:
        if any(isinstance(each, CallAnswer) for each in request.messages):
            return exit_with("done")
        return call("run_script", code="await stay(args[0])", args=["x"])

    worker = Worker(tools=(Tool.from_function(stay, effect="read"),))
    worker.agent = worker.agent.with_model(ScriptedModel([by_turn] * 24))
    script = "return await asyncio.gather(*[agents.worker(text=str(n)) for n in range(12)])"
    result = await worker.work(folder, script=script)
    assert (result.error, result.value) == (None, ["done"] * 12)
    assert (len(most), max(most)) == (12, 8)


async def test_a_script_is_not_given_time_by_those_of_its_agents_that_are_queued(
    folder: Path,
) -> None:
    async def stay() -> None:
        """Stay until the run ends."""
        await asyncio.Event().wait()

    def by_turn(request: ModelRequest) -> ModelReply:
        del request
        return call("run_script", code="await stay()", timeout_seconds=500)

    stays = Tool.from_function(stay, effect="read")
    worker = Worker(tools=(stays,))
    worker.agent = worker.agent.with_model(ScriptedModel([by_turn] * 12))
    script = (
        "all_of_them = [asyncio.create_task(agents.worker(text=str(n))) for n in range(12)]\n"
        "await asyncio.sleep(0.5)\nwhile True:\n    pass"
    )
    result = await worker.work(folder, script=script, limits=Limits(seconds=2))
    assert result.error is not None
    assert result.error.code == "E_TIMEOUT"
