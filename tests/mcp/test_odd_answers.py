"""Answers and lists that are out of the ordinary: they cost what they are in, and nothing else."""

import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, MCPError

from fronts import OPEN, client_of, text_of
from lineshaft import Session
from lineshaft.mcp import ServerSpec
from lineshaft.mcp import server as mcp_server
from upstreams.real import python_server


@asynccontextmanager
async def odd(at: Path, secrets: Sequence[str] = (), **options: Any) -> AsyncGenerator[Client]:
    """Give a client that the server is passed to."""
    spec = ServerSpec(command=python_server("odd"), seconds=1.0)
    source = mcp_server(spec, name="odd", trust=True)
    async with Session(
        [source], workspace=at, policy=OPEN, store=False, secrets=secrets
    ) as session:
        await session.ready()
        async with client_of(session, passed="odd", **options) as client:
            yield client


async def test_what_it_sends_is_not_on_standard_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with odd(tmp_path) as client:
        result = await client.call_tool("bad-notices", {})
    assert not result.is_error
    assert "hunter" not in capfd.readouterr().err


async def test_a_price_is_a_multiple_of_a_cent(tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        for price in (19.99, 0.07, 1e15, 3):
            result = await client.call_tool("price", {"of": price})
            assert not result.is_error
            assert result.structured_content == {"price": price}
        refused = await client.call_tool("price", {"of": 19.995})
    assert "a multiple of 0.01" in text_of(refused)


async def test_a_result_of_too_many_contents_fails_its_call(tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        result = await client.call_tool("crowd", {})
        after = await client.call_tool("dash-ed", {})
    assert "10,001 contents" in text_of(result)
    assert text_of(after) == "dash-ed"


@pytest.mark.parametrize("name", ["fails-with-data", "fails-with-resource"])
async def test_why_a_tool_failed_is_said_wherever_it_stands(name: str, tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        result = await client.call_tool(name, {})
    assert result.is_error
    assert "no disk" in text_of(result)


async def test_one_bad_entry_does_not_cost_the_list(tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        assert [each.uri for each in (await client.list_resources()).resources] == ["x://a"]


async def test_a_list_that_is_none_is_the_servers_fault(tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        with pytest.raises(MCPError, match="answered what MCP does not allow") as caught:
            await client.list_prompts()
    assert caught.value.error.code == types.INTERNAL_ERROR


async def test_an_error_in_the_place_of_a_list_is_told_clean_and_without_secrets(
    tmp_path: Path,
) -> None:
    async with odd(tmp_path, secrets=["kumquat-marmalade-71"]) as client:
        with pytest.raises(MCPError, match=r"no access with \[redacted\]") as caught:
            await client.list_resources(cursor="secret")
    assert len(caught.value.error.message) < 5_000
    assert "\x1b" not in caught.value.error.message
    assert "kumquat" not in str(caught.value.error.data)


@pytest.mark.parametrize("what", ["resources", "resource_templates", "prompts"])
async def test_a_page_of_too_many_entries_is_refused(what: str, tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        listed: Callable[..., Awaitable[types.PaginatedResult]] = getattr(client, f"list_{what}")
        page = await listed(cursor="10000")
        with pytest.raises(MCPError, match="10,001 entries: more than 10,000"):
            await listed(cursor="10001")
    assert len(getattr(page, what)) == 10_000


async def test_what_is_beside_the_tools_has_the_servers_time_too(tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        began = time.monotonic()
        with pytest.raises(MCPError, match="within 1 s"):
            await client.list_resource_templates()
        with pytest.raises(MCPError, match="E_TOOL_TIMEOUT"):
            await client.read_resource("x://a")
    assert time.monotonic() - began < 10


async def test_the_log_keeps_its_levels_and_only_what_is_wanted_is_sent(tmp_path: Path) -> None:
    heard: list[object] = []
    async with odd(tmp_path, mode="legacy", heard=heard) as client:
        await client.call_tool("logs", {})
        every = _lines(heard)
        heard.clear()
        level = types.SetLevelRequestParams(level="error")
        request = types.SetLevelRequest(params=level)
        await client.session.send_request(request, types.EmptyResult)
        await client.call_tool("logs", {})
    assert every == [
        ("debug", "debug: fine"),
        ("warning", 'warning: {"left": true}'),
        ("error", "error: out"),
    ]
    assert _lines(heard) == [("error", "error: out")]


def _lines(heard: list[object]) -> list[tuple[str, object]]:
    kind = types.LoggingMessageNotificationParams
    return [(each.level, each.data) for each in heard if isinstance(each, kind)]
