"""The script tool: what it takes, how long it may take, when it is not there at all."""

import json
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from lineshaft import Context, Limits, Policy, Session, Tool, tool
from lineshaft.session import Api
from lineshaft.testing import ScriptedEngine
from lineshaft.values import Call
from support import Make, Outside


@pytest.mark.behaviour("A1")
@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({}, "neither"),
        ({"code": "return 1", "file": "a.py"}, "both"),
        ({"code": ""}, "code"),
        ({"code": "  \n"}, "code"),
        ({"code": 7}, "code"),
        ({"file": ""}, "file"),
        ({"file": ["a.py"]}, "file"),
        ({"code": "return 1", "args": "x"}, "args"),
        ({"code": "return 1", "args": [1]}, "args"),
        ({"code": "return 1", "timeout": 5}, "timeout"),
        ("{not json", "JSON"),
        ("[1]", "object"),
    ],
)
async def test_a_request_that_is_not_one_script_is_refused_by_name_and_starts_nothing(
    make: Make, outside: Outside, arguments: Any, word: str
) -> None:
    async with make() as session:
        handled = await session.handle("run_script", arguments)
    assert handled.is_error
    assert handled.text.startswith("E_INVALID_ARGS")
    assert word in handled.text
    assert outside.total == 0


@pytest.mark.behaviour("A1")
async def test_a_script_comes_as_code_or_as_a_file_with_text_arguments(
    make: Make, folder: Path
) -> None:
    (folder / "job.py").write_text("return ['file', *args]\n")
    async with make() as session:
        inline = await session.handle("run_script", {"code": "return args", "args": ["a b", "é"]})
        named = await session.handle("run_script", json.dumps({"file": "job.py", "args": ["x"]}))
    assert json.loads(inline.text) == ["a b", "é"]
    assert json.loads(named.text) == ["file", "x"]


@pytest.mark.behaviour("A1")
@pytest.mark.parametrize("script", ["", "   \n\t", None, 7, b"return 1"])
async def test_what_is_no_script_gives_a_clear_error_and_starts_nothing(
    make: Make, script: Any
) -> None:
    async with make() as session:
        result = await session.run(script)
    assert result.status == "error"
    assert result.error is not None
    assert result.error.code == "E_INVALID_ARGS"
    assert result.calls == ()


@pytest.mark.behaviour("A1")
async def test_a_script_file_outside_the_workspace_is_refused(make: Make, tmp_path: Path) -> None:
    (tmp_path / "evil.py").write_text("return 'ran'")
    async with make() as session:
        handled = await session.handle("run_script", {"file": "../evil.py"})
    assert handled.is_error
    assert "E_SANDBOX_VIOLATION" in handled.text


@pytest.mark.behaviour("A2")
@pytest.mark.parametrize(
    "script",
    [
        "while True:\n    pass",
        "while True:\n    try:\n        while True: pass\n    except BaseException:\n        pass",
        "import time\nwhile True:\n    time.sleep(1)",
        "await forever()",
        "while True:\n    try:\n        await forever()\n    except Exception:\n        pass",
    ],
)
async def test_a_run_ends_at_its_time_out_whatever_it_does(make: Make, script: str) -> None:
    @tool(effect="read")
    async def forever() -> None:
        """Never return."""
        await anyio.sleep_forever()

    started = time.monotonic()
    async with make(forever) as session:
        result = await session.run(script, limits=Limits(seconds=0.5))
    assert result.status == "timeout"
    assert result.error is not None
    assert result.error.code == "E_TIMEOUT"
    assert time.monotonic() - started < 0.5 + 2 + 1 + 5  # settled, with room for a busy machine


@pytest.mark.behaviour("A2")
@pytest.mark.parametrize("seconds", [0, -1, 601, "60", True, float("nan")])
async def test_a_model_may_ask_for_a_time_out_up_to_the_maximum_only(
    make: Make, seconds: object
) -> None:
    request = {"code": "return 1", "timeout_seconds": seconds}
    async with make() as session:
        handled = await session.handle("run_script", request)
        fine = await session.handle("run_script", {"code": "return 1", "timeout_seconds": 600})
    assert handled.is_error
    assert "timeout_seconds" in handled.text
    assert fine.text == "1"


@pytest.mark.behaviour("A2")
async def test_one_call_has_its_own_time_out_which_the_script_can_catch(make: Make) -> None:
    @tool(effect="read", seconds=0.05)
    async def slow() -> None:
        """Never return."""
        await anyio.sleep_forever()

    script = "try:\n    await slow()\nexcept ToolError as e:\n    return e.code"
    async with make(slow) as session:
        result = await session.run(script)
    assert result.value == "E_TOOL_TIMEOUT"


@pytest.mark.behaviour("A2")
async def test_the_smallest_of_tool_call_and_run_limit_wins(make: Make) -> None:
    @tool(effect="read", seconds=60)
    async def slow() -> None:
        """Never return."""
        await anyio.sleep_forever()

    async with make(slow, limits=Limits(call_seconds=0.05)) as session:
        result = await session.run("await slow()")
    assert result.error is not None
    assert result.error.code == "E_TOOL_TIMEOUT"


@pytest.mark.behaviour("A3")
async def test_the_call_over_the_cap_raises_with_the_number(make: Make, outside: Outside) -> None:
    script = """
done = 0
try:
    while True:
        await poke()
        done += 1
except ToolError as e:
    return [done, e.code, str(e)]
"""
    async with make(limits=Limits(calls=7)) as session:
        result = await session.run(script)
    assert result.value[:2] == [7, "E_CALL_LIMIT"]
    assert "7" in result.value[2]
    assert outside.total == 7


@pytest.mark.long
@pytest.mark.behaviour("A3")
async def test_a_models_script_may_make_50_calls_and_a_persons_1000(
    make: Make, outside: Outside
) -> None:
    script = "for i in range(1001):\n    await poke()"
    async with make() as session:
        await session.handle("run_script", {"code": script})
        assert outside.total == 50
        await session.run(script)
    assert outside.total == 50 + 1000


@pytest.mark.behaviour("A3")
async def test_refused_calls_are_free_and_too_many_of_them_end_the_run(
    make: Make, outside: Outside
) -> None:
    policy = Policy.from_dict(
        {"mode": "open", "rules": [{"id": "no", "tool": "nope", "verdict": "deny"}]}
    )
    attempts = "    try:\n        await nope()\n    except ToolError:\n        pass\n"
    fewer = f"for i in range(5):\n{attempts}\nreturn [await poke(), await poke()]"
    more = f"while True:\n{attempts}"
    async with make(outside.tool("nope"), policy=policy, limits=Limits(calls=2)) as session:
        spared = await session.run(fewer)
        ended = await session.run(more)
    assert spared.value == [1, 2]
    assert spared.usage.refused == 5
    assert ended.status == "limit"
    assert ended.usage.refused == 6
    assert outside.counts["nope"] == 0


@pytest.mark.behaviour("A4")
@pytest.mark.parametrize("settings", [{"scripts": False}, {"policy": Policy(mode="plan")}])
async def test_where_scripts_are_off_they_are_neither_listed_nor_dispatched(
    make: Make, outside: Outside, settings: dict[str, object]
) -> None:
    async with make(**settings) as session:
        names = [d["function"]["name"] for d in session.definitions("openai", direct=["poke"])]
        forced = await session.handle("run_script", {"code": "await poke()"})
        result = await session.run("await poke()")
        text = session.instructions()
    assert names == (["poke"] if "scripts" in settings else [])  # `plan` closes what acts
    assert forced.is_error
    assert "E_DENIED" in forced.text
    assert (result.status, result.exit_code) == ("refused", 3)
    assert "run_script" not in text
    assert outside.total == 0


@pytest.mark.behaviour("A4")
async def test_mode_read_runs_scripts_that_read(make: Make, folder: Path, outside: Outside) -> None:
    (folder / "a.txt").write_text("hello")
    async with make(policy=Policy(mode="read")) as session:
        read = await session.run("return (await read_file(path='a.txt'))['content']")
        wrote = await session.run("await poke()")
    assert read.value == "hello"
    assert wrote.error is not None
    assert (wrote.error.code, wrote.exit_code, outside.total) == ("E_DENIED", 3, 0)


@pytest.mark.behaviour("A5")
async def test_the_description_names_the_tools_that_are_there_now(make: Make, folder: Path) -> None:
    @tool(effect="read")
    async def average(values: list[float], places: int = 2) -> float:
        """Return the mean."""
        return round(sum(values) / len(values), places)

    async with make(average) as session:
        text = session.definitions("openai")[0]["function"]["description"]
    async with Session(workspace=folder) as empty:
        nothing = empty.definitions("openai")[0]["function"]["description"]
    assert "async def average(values: list[float], places: int = 2) -> float" in text
    assert "read_file" in text
    assert "read_file" not in nothing
    assert "average" not in nothing
    assert "no tools" in nothing


@pytest.mark.behaviour("A5")
async def test_the_description_says_when_a_script_helps_and_when_not(make: Make) -> None:
    async with make() as session:
        text = session.definitions("anthropic")[0]["description"]
    assert "about five files" in text
    assert "Do not use it for one edit" in text


@pytest.mark.behaviour("A5")
@pytest.mark.parametrize("api", ["openai", "openai-responses", "anthropic", "mcp"])
async def test_definitions_have_the_shape_of_the_api(make: Make, api: Api) -> None:
    async with make() as session:
        script, direct = session.definitions(api, direct=["read_file"])
    holder = script["function"] if api == "openai" else script
    key = {"anthropic": "input_schema", "mcp": "inputSchema"}.get(api, "parameters")
    assert holder["name"] == "run_script"
    assert set(holder[key]["properties"]) == {"code", "file", "args", "timeout_seconds"}
    assert json.dumps(direct)


@pytest.mark.behaviour("A6")
@pytest.mark.parametrize("name", ["run_script", "install", "resume", "status", "exit"])
async def test_what_may_not_be_called_from_a_script_is_refused_at_dispatch(
    folder: Path, outside: Outside, name: str
) -> None:
    install = outside.tool("install", effect="read", scriptable=False)
    engine = ScriptedEngine([Call(tool=name, arguments={}, origin="script")])
    policy = Policy(mode="open")
    async with Session([install], workspace=folder, engine=engine, policy=policy) as session:
        result = await session.run("ignored")
    assert [call.status for call in result.calls] == ["refused"]
    assert outside.total == 0


@pytest.mark.behaviour("A6")
async def test_a_tool_that_is_not_scriptable_is_not_in_the_scripts_world(
    make: Make, outside: Outside
) -> None:
    hidden = outside.tool("install", effect="read", scriptable=False)
    async with make(hidden) as session:
        result = await session.run("return await install()")
        direct = await session.call("install")
        text = session.definitions("openai")[0]["function"]["description"]
    assert result.error is not None
    assert result.error.code == "E_CHECK"
    assert "install" not in text
    assert direct.value == 1


@pytest.mark.behaviour("A6")
async def test_a_tool_that_a_container_calls_for_a_script_is_judged_as_the_scripts_own(
    make: Make, outside: Outside
) -> None:
    async def batch(context: Context) -> str:
        """Call what a script may not call."""
        done = await context.dispatch(Call(tool="install", arguments={}, origin="code"))
        return type(done).__name__

    container = Tool.from_function(batch, effect="read", container=True)
    hidden = outside.tool("install", effect="read", scriptable=False)
    async with make(container, hidden) as session:
        result = await session.run("return await batch()")
    assert result.value == "Failure"
    assert outside.total == 0
    assert [call.parent for call in result.calls] == [None, result.calls[0].id]
