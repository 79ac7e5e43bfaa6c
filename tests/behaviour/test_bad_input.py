"""Malformed input of every kind: a clear error, nothing hangs, nothing is left behind."""

import asyncio
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, cast

import anyio
import pytest

from lineshaft import ConfigError, Limits, Policy, Session, Tool, ToolError, Toolset, run_sync
from support import Make, Outside


@pytest.mark.behaviour("A1")
@pytest.mark.parametrize(
    "script",
    [
        "x = '" + "a" * 10_000_000 + "'",
        "[" * 5_000 + "]" * 5_000,
        "x = " + "-" * 100_000 + "1",
        "a" + ".b" * 50_000,
        "return 1 +\n",
        "return '\ud800'",
        "a\0b",
        "if True:\n" * 1,
        "\n".join(" " * i + "if True:" for i in range(150)) + "\n" + " " * 150 + "x = 1",
        "return " + "9" * 10_000,
    ],
    ids=["10 MB", "brackets", "minus", "dots", "cut", "surrogate", "nul", "block", "deep", "big"],
)
async def test_a_malformed_script_gives_a_clear_error(make: Make, script: str) -> None:
    async with make() as session:
        with anyio.fail_after(30):
            result = await session.run(script, limits=Limits(seconds=20))
            assert (await session.run("return 1")).value == 1
    assert result.status in ("error", "success", "limit")
    if result.status != "success":
        assert result.error is not None
        assert result.error.message
        assert len(result.error.message) < 1_000


@pytest.mark.behaviour("B8")
@pytest.mark.parametrize(
    "value",
    [object(), {1, 2}, b"bytes", {1: 2}, float("nan"), float("inf"), lambda: 1, [object()]],
    ids=["object", "set", "bytes", "int key", "nan", "inf", "function", "objects"],
)
async def test_a_tool_that_returns_what_is_not_json_has_failed(make: Make, value: Any) -> None:
    def odd():
        """Return something odd."""
        return value

    async with make(Tool.from_function(odd, effect="read")) as session:
        result = await session.call("odd")
    assert result.error is not None
    assert result.error.code == "E_INVALID_RESULT"
    assert "odd" in result.error.message


@pytest.mark.behaviour("B8")
async def test_a_cyclic_result_has_failed(make: Make) -> None:
    def cycle() -> list[object]:
        """Return itself."""
        found: list[object] = []
        found.append(found)
        return found

    async with make(Tool.from_function(cycle, effect="read")) as session:
        result = await session.call("cycle")
    assert result.error is not None
    assert result.error.code == "E_INVALID_RESULT"


def nothing(**given: object) -> None:
    """Do nothing."""
    del given


@pytest.mark.behaviour("B8")
@pytest.mark.parametrize(
    "schema",
    [
        {"type": "nonsense"},
        {"type": "array"},
        {"type": "object", "properties": []},
        {"$ref": "https://example.com/schema.json"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/missing"}}},
        [],
        None,
    ],
    ids=str,
)
def test_a_schema_that_lies_is_refused_when_the_tool_is_made(schema: Any) -> None:
    with pytest.raises(ConfigError, match="lie"):
        Tool.from_schema(
            name="lie",
            description="",
            input_schema=schema,
            function=nothing,
            effect="read",
        )


class Outcome(BaseException):
    """Such as a test runner's own, which derive from no `Exception`."""


@pytest.mark.behaviour("C12")
@pytest.mark.parametrize(
    "error",
    [
        SystemExit(3),
        GeneratorExit(),
        KeyboardInterrupt(),
        Outcome("skipped"),
        ToolError("E_STALE", cast("str", 7)),
    ],
)
async def test_a_tool_that_exits_or_raises_control_errors_ends_only_its_call(
    make: Make, error: BaseException
) -> None:
    def leave() -> None:
        """Try to end the host."""
        raise error

    script = "try:\n    await leave()\nexcept ToolError as e:\n    return e.code"
    async with make(Tool.from_function(leave, effect="read")) as session:
        result = await session.run(script)
        direct = await session.call("leave")
    code = error.code if isinstance(error, ToolError) else "E_TOOL_FAILED"
    assert result.value == code
    assert direct.error is not None
    assert direct.error.code == code


@pytest.mark.behaviour("F26")
async def test_a_workspace_that_vanishes_is_a_clear_error(make: Make, folder: Path) -> None:
    async with make() as session:
        folder.rmdir()
        run = await session.run("return await read_file(path='a.txt')")
        call = await session.call("list_files")
    assert run.status == "error"
    assert run.error is not None
    assert call.error is not None
    assert str(folder) not in run.error.message + call.error.message


@pytest.mark.behaviour("F26")
@pytest.mark.parametrize("place", ["missing", "file.txt"])
def test_a_workspace_that_is_no_folder_is_refused_at_once(tmp_path: Path, place: str) -> None:
    (tmp_path / "file.txt").write_text("x")
    with pytest.raises(ConfigError, match=place):
        Session(workspace=tmp_path / place)


@pytest.mark.behaviour("B9")
@pytest.mark.parametrize("tools", [[7], ["read_file"], [None], [int]])
def test_what_is_no_tool_is_refused(tools: list[Any]) -> None:
    with pytest.raises(ConfigError):
        Session(tools)


@pytest.mark.behaviour("A1")
@pytest.mark.parametrize(
    "settings",
    [
        {"engine": "fortran"},
        {"engine": None},
        {"check": "maybe"},
        {"atomic": "yes"},
        {"store": 7},
        {"guards": "syntax"},
        {"tools": "read_file"},
        {"tools": Toolset([Outside().tool()])["poke"]},
        {"workspace": None},
        {"policy": {"mode": "read"}},
        {"limits": {"seconds": 1}},
        {"approver": "yes"},
        {"middleware": ["x"]},
        {"sinks": "x"},
        {"python": "3.11"},
    ],
    ids=str,
)
def test_a_setting_that_cannot_be_is_refused_with_what_can(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as caught:
        Session(**settings)
    assert str(next(iter(settings.values()))) in str(caught.value)


@pytest.mark.behaviour("A1")
def test_a_sink_that_would_have_to_be_awaited_is_refused() -> None:
    async def sink(event: object) -> None:
        del event

    with pytest.raises(ConfigError, match="functions that are not async"):
        Session(sinks=[sink])  # pyright: ignore[reportArgumentType]  as an author may write


@pytest.mark.behaviour("A1")
@pytest.mark.parametrize(
    ("error", "told"),
    [
        (KeyError("total"), "KeyError: 'total'"),
        (asyncio.CancelledError(), "RuntimeError: it raised CancelledError()"),
        (SystemExit(3), "RuntimeError: it raised SystemExit(3)"),
    ],
)
async def test_a_sink_that_raises_is_named_where_it_ends_the_run(
    make: Make, error: BaseException, told: str
) -> None:
    def counts(event: object) -> None:
        raise error

    async with make(sinks=[counts]) as session:
        result = await session.run("return 1")
    assert result.error is not None
    assert result.error.code == "E_RECORD"
    assert f"{told} (raised by the sink" in result.error.message
    assert counts.__qualname__ in result.error.message


@pytest.mark.behaviour("E24")
@pytest.mark.parametrize("name", [None, 7, ["read_file"], "no such tool"])
@pytest.mark.parametrize("arguments", [{}, "{}", "[", None, {"a": object()}])
async def test_whatever_a_model_calls_is_answered(
    make: Make, name: object, arguments: object
) -> None:
    async with make() as session:
        handled = await session.handle(cast("str", name), cast("str", arguments))
    assert handled.is_error
    assert handled.text.startswith(("E_UNKNOWN_TOOL", "E_INVALID_ARGS"))


@pytest.mark.behaviour("E24")
def test_secrets_that_would_hide_nothing_are_refused_and_not_shown() -> None:
    with pytest.raises(ConfigError, match="secrets must be a list of texts") as caught:
        Session(secrets="hush-hush")
    assert "hush" not in str(caught.value)


@pytest.mark.behaviour("A2")
@pytest.mark.parametrize("name", [field.name for field in fields(Limits)])
@pytest.mark.parametrize("value", [-1, 0, float("nan"), float("inf"), 10**12, "60", True, None])
def test_a_limit_that_bounds_nothing_is_refused(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=f"the limit {name} is"):
        replace(Limits(), **{name: value})


@pytest.mark.behaviour("A1")
@pytest.mark.parametrize(
    "inputs",
    [
        {"a b": 1},
        {"class": 1},
        {"x": object()},
        {1: 2},
        {"x": 10**5000},
        {"x": [float("nan")]},
        {"x": {1: "a", "1": "b"}},
        {"x": {1, 2}},
        {"x": [b"text"]},
        {"x": (n for n in "ab")},
        [1],
    ],
)
async def test_inputs_that_a_script_cannot_have_are_refused_before_anything_runs(
    make: Make, outside: Outside, inputs: dict[str, Any]
) -> None:
    async with make() as session:
        with pytest.raises(ConfigError):
            await session.run("await poke()", inputs=inputs)
    assert outside.total == 0


@pytest.mark.behaviour("A1")
async def test_what_a_run_or_a_call_cannot_take_is_told(make: Make, outside: Outside) -> None:
    wrong: Any = {"seconds": 1}
    async with make(policy=Policy(mode="open")) as session:
        with pytest.raises(ConfigError, match="limits must be Limits"):
            await session.run("await poke()", limits=wrong)
        for seconds in ("1", True, 0, float("nan")):
            with pytest.raises(ConfigError, match="seconds must be a number above 0"):
                await session.call("poke", seconds=cast("float", seconds))
    assert outside.total == 0


@pytest.mark.behaviour("A1")
async def test_inputs_become_globals(make: Make) -> None:
    async with make() as session:
        result = await session.run(
            "return [n + 1, who['name']]", inputs={"n": 1, "who": {"name": "x"}}
        )
    assert result.value == [2, "x"]


@pytest.mark.behaviour("A1")
async def test_a_session_that_was_not_entered_says_so(folder: Path) -> None:
    with pytest.raises(ConfigError, match="async with"):
        await Session(workspace=folder).run("return 1")


@pytest.mark.behaviour("A1")
def test_one_synchronous_call_runs_a_script(folder: Path, outside: Outside) -> None:
    result = run_sync("return await poke() + 1", tools=[outside.tool()], workspace=folder)
    assert result.raise_for_status().value == 2


@pytest.mark.behaviour("A1")
async def test_the_synchronous_call_works_inside_a_running_loop(folder: Path) -> None:
    assert run_sync("return 1 + 1", workspace=folder).value == 2


@pytest.mark.behaviour("B9")
async def test_a_toolset_is_taken_as_it_is(folder: Path, outside: Outside) -> None:
    async with Session(Toolset([outside.tool()]), workspace=folder) as session:
        assert list(session.tools) == ["poke"]


@pytest.mark.behaviour("A6")
@pytest.mark.parametrize(
    "rules",
    [
        [{"id": "a", "verdict": "perhaps"}],
        [{"verdict": "deny"}],
        [{"id": "a", "verdict": "deny", "tols": "x"}],
        [{"id": "a", "verdict": "deny"}, {"id": "a", "verdict": "allow"}],
        "deny everything",
    ],
    ids=str,
)
def test_a_malformed_policy_is_refused(rules: Any) -> None:
    with pytest.raises(ConfigError):
        Policy.from_dict({"mode": "auto", "rules": rules})
