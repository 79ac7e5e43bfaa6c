"""What a client may ask of a server at most, and odd values on the way out."""

import json
from pathlib import Path

import anyio
import pytest
from mcp import Client

from fronts import MODES, OPEN, Mode, client_of, data_of, served, text_of
from lineshaft import Limits, Session, tool
from lineshaft.config import load

ODD: list[dict[str, object]] = [
    {"type": "resource", "text": "x", "uri": "u", "mime_type": 5},
    {"type": "resource_link", "uri": "u", "bytes": "many"},
    {"type": "resource_link", "uri": "u", "description": 7},
]


@tool(effect="read")
async def odd(number: int) -> object:
    """Give a value that looks like a block of content."""
    return ODD[number]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("number", range(len(ODD)))
async def test_what_only_looks_like_a_block_is_text(
    mode: Mode, number: int, tmp_path: Path
) -> None:
    async with served([odd], at=tmp_path, mode=mode, direct=["*"]) as (client, _):
        told = await client.call_tool("odd", {"number": number})
    assert not told.is_error
    assert json.loads(text_of(told)) == ODD[number]


async def _started(client: Client) -> str:
    ran = await client.call_tool("run", {"code": "return await later()", "background": True})
    return text_of(ran) if ran.is_error else data_of(ran)["run_id"]


async def test_runs_in_the_background_are_bounded(tmp_path: Path) -> None:
    go_on = anyio.Event()

    @tool(effect="read")
    async def later() -> str:
        """Answer later."""
        await go_on.wait()
        return "done"

    async with served([later], at=tmp_path) as (client, _):
        runs = [await _started(client) for _ in range(20)]
        refused = await _started(client)
        assert refused.startswith("E_DENIED: 20 runs are under way in the background")
        assert "`status`" in refused
        other = await client.call_tool("run", {"code": "return 1"})
        assert data_of(other)["value"] == 1
        go_on.set()
        for run_id in runs:
            done = await client.call_tool("resume", {"run_id": run_id})
            assert data_of(done)["value"] == "done"
        assert not (await _started(client)).startswith("E_DENIED")


@pytest.mark.parametrize(("most", "allowed"), [(5, 20), (120, 120)])
async def test_the_longest_time_of_the_limits_binds_clients_and_models(
    most: float, allowed: float, tmp_path: Path
) -> None:
    limits = Limits(seconds=20, most_seconds=most)
    session = Session([], workspace=tmp_path, policy=OPEN, limits=limits, store=False)
    async with session, client_of(session) as client:
        for seconds, fits in ((allowed, True), (allowed + 1, False)):
            arguments = {"code": "return 1", "timeout_seconds": seconds}
            assert (await client.call_tool("run", arguments)).is_error != fits
            assert (await session.handle("run_script", arguments)).is_error != fits
        listed = {each.name: each.input_schema for each in (await client.list_tools()).tools}
        assert listed["run"]["properties"]["timeout_seconds"]["maximum"] == allowed
        schema = session.definitions("mcp")[0]["inputSchema"]
        assert schema["properties"]["timeout_seconds"]["maximum"] == allowed


def test_the_longest_time_of_the_settings_reaches_the_session(tmp_path: Path) -> None:
    (tmp_path / "lineshaft.toml").write_text("[script]\nmax_timeout_seconds = 5\n")
    schema = load(tmp_path).definitions("mcp")[0]["inputSchema"]
    assert schema["properties"]["timeout_seconds"]["maximum"] == 5
