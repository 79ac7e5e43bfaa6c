"""The route: which tools a model calls directly, by the catalogue first, then by the record."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lineshaft import ConfigError, Policy, Session
from lineshaft.tools import Tool

pytestmark = pytest.mark.anyio


def _tool(name: str, answer: Callable[[], str] = lambda: "yes", **facts: Any) -> Tool:
    async def asked(which: str = "") -> str:
        """Answer."""
        return answer()

    return Tool.from_function(asked, name=name, effect="read", **facts)


def _many(count: int) -> list[Tool]:
    return [_tool(f"t{number}") for number in range(count)]


def _names(definitions: list[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in definitions]


async def _script(session: Session, name: str, times: int) -> None:
    code = f"for n in range({times}):\n    await {name}(which=str(n))\n"
    done = await session.handle("run_script", {"code": code})
    assert not done.is_error, done.text


async def test_few_tools_for_few_calls_are_direct_and_the_script_tool_stays(
    tmp_path: Path,
) -> None:
    async with Session(_many(10), workspace=tmp_path, store=False) as session:
        route = await session.route(calls=3)
        told = _names(session.definitions("mcp", direct=route))
        many_calls = await session.route(calls=4)
        unknown = await session.route()
    assert route.direct == tuple(sorted(f"t{n}" for n in range(10)))
    assert (route.scripted, route.runs) == ((), 0)
    assert route.reasons["t3"] == "3 calls are expected, no more than 3, of few tools"
    assert told == ["run_script", *route.direct]
    assert many_calls.direct == unknown.direct == ()
    assert many_calls.reasons["t0"] == "4 calls are expected, more than 3"
    assert unknown.reasons["t0"] == "it is not known how many calls a task takes"


async def test_of_many_tools_none_is_direct_that_scripts_can_call(tmp_path: Path) -> None:
    tools = [*_many(11), _tool("alone", scriptable=False)]
    rule = {"id": "no-t4", "tool": "t4", "origin": "model", "verdict": "deny"}
    policy = Policy.from_dict({"rules": [rule]})
    async with Session(tools, workspace=tmp_path, store=False, policy=policy) as session:
        route = await session.route(calls=1)
        assert _names(session.definitions("mcp", direct=route)) == ["run_script", "alone"]
    assert route.direct == ("alone",)
    assert route.scripted == tuple(sorted(f"t{n}" for n in range(11)))
    assert route.reasons["alone"] == "scripts cannot call it"
    assert route.reasons["t1"] == "there are 11 tools, more than 10"
    assert route.reasons["t4"] == "policy closes it to direct calls"


async def test_without_scripts_all_is_direct(tmp_path: Path) -> None:
    async with Session(_many(12), workspace=tmp_path, store=False, scripts=False) as session:
        route = await session.route()
    assert len(route.direct) == 12
    assert route.scripted == ()
    assert route.reasons["t0"] == "there are no scripts here"


async def test_from_20_runs_on_the_record_decides(tmp_path: Path) -> None:
    tools = [
        _tool("small"),
        _tool("large", lambda: "x" * 5_000),
        _tool("often"),
        _tool("beside"),
        _tool("seldom"),
    ]
    beside = "await beside()\nfor n in range(4):\n    await often(which=str(n))\n"
    async with Session(tools, workspace=tmp_path, store=tmp_path / "runs.db") as session:
        for _ in range(5):
            await _script(session, "small", 3)
            await _script(session, "large", 1)
            await session.handle("run_script", {"code": beside})
        for _ in range(4):
            await _script(session, "seldom", 1)
        await session.call("small", {"which": "code"})  # of host code: it does not count
        before = await session.route(calls=1)
        await _script(session, "often", 40)
        after = await session.route()
        told = _names(session.definitions("mcp", direct=after))
    assert (len(before.direct), before.runs) == (5, 0)
    assert (after.direct, after.runs) == (("small",), 20)
    assert told == ["run_script", "small"]
    assert after.reasons == {
        "small": "5 logged runs with it: 3 calls and 15 bytes a run",
        "large": "5 logged runs with it: 1 calls and 5,002 bytes a run",
        "often": "6 logged runs with it: 5 calls and 25 bytes a run",
        "beside": "5 logged runs with it: 5 calls and 25 bytes a run",
        "seldom": "it is not known how many calls a task takes",
    }


async def test_direct_calls_of_a_model_in_a_row_are_one_run(tmp_path: Path) -> None:
    """Each is recorded alone; taken for runs of one call, they would never route to scripts."""
    async with Session(
        [_tool("asked"), _tool("other")], workspace=tmp_path, store=tmp_path / "runs.db"
    ) as session:
        for _ in range(30):
            await session.handle("asked", {})
        for _ in range(19):
            await _script(session, "asked", 5)
        route = await session.route(calls=1)
    assert (route.direct, route.runs) == (("other",), 20)
    assert route.reasons["asked"] == "20 logged runs with it: 5 calls and 25 bytes a run"


async def test_a_store_of_another_workspace_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    store = tmp_path / "runs.db"
    async with Session([_tool("t")], workspace=tmp_path / "a", store=store) as session:
        for _ in range(20):
            await _script(session, "t", 1)
        assert (await session.route()).direct == ("t",)
    async with Session([_tool("t")], workspace=tmp_path / "b", store=store) as session:
        assert (await session.route()).direct == ()


async def test_at_most_ten_tools_are_direct_those_used_most(tmp_path: Path) -> None:
    async with Session(_many(12), workspace=tmp_path, store=tmp_path / "runs.db") as session:
        for number in range(12):
            for _ in range(6 if number else 5):
                await _script(session, f"t{number}", 1)
        route = await session.route()
    assert set(route.direct) < {f"t{n}" for n in range(1, 12)}
    [left] = {f"t{n}" for n in range(1, 12)} - set(route.direct)
    assert route.scripted == ("t0", left)
    assert (
        route.reasons["t0"]
        == route.reasons[left]
        == "10 other tools are called directly more often"
    )


async def test_a_route_outlives_tools_that_go(tmp_path: Path) -> None:
    async with Session(_many(3), workspace=tmp_path, store=False) as session:
        route = await session.route(calls=1)
    async with Session(_many(2), workspace=tmp_path, store=False) as session:
        assert _names(session.definitions("mcp", direct=route)) == ["run_script", "t0", "t1"]


async def test_a_number_of_calls_that_is_none_is_refused(tmp_path: Path) -> None:
    async with Session(_many(1), workspace=tmp_path, store=False) as session:
        for calls in (-1, True):
            with pytest.raises(ConfigError, match="calls is"):
                await session.route(calls=calls)
