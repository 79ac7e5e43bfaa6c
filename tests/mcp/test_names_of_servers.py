"""What a server calls its tools: in globs, in rules, towards a client that it is passed to."""

import shlex
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from fronts import OPEN, client_of, data_of, text_of
from lineshaft import Policy, Session
from lineshaft.mcp import server as mcp_server
from upstreams.real import python_server

NEVER = Policy.from_dict(
    {"mode": "open", "rules": [{"id": "no", "tool": "my-srv.admin.*", "verdict": "deny"}]}
)


@asynccontextmanager
async def odd(
    at: Path, policy: Policy = OPEN, *, trust: bool = True, **options: Any
) -> AsyncGenerator[Client]:
    """Give a client of a front before the server."""
    source = mcp_server(python_server("odd"), name="my-srv", trust=trust)
    async with Session([source], workspace=at, policy=policy, store=False) as session:
        await session.ready()
        async with client_of(session, **options) as client:
            yield client


@pytest.mark.parametrize(
    "name",
    [
        "my-srv.dash-ed",
        "my_srv.dash_ed",
        "my-srv__dash-ed",
        "my-srv.print",
        "my_srv.print",
        "my-srv.admin.drop",
    ],
)
async def test_a_tool_is_described_by_any_of_its_names(name: str, tmp_path: Path) -> None:
    async with odd(tmp_path) as client:
        described = await client.call_tool("describe", {"names": [name]})
        code = f"return await describe_tool({name!r})"
        inside = await client.call_tool("run", {"code": code})
    assert not described.is_error
    assert "my_srv." in text_of(described)
    assert data_of(inside)["value"] == text_of(described)


@pytest.mark.parametrize("namespace", ["my-srv", "my_srv"])
async def test_a_search_takes_either_spelling_of_a_namespace(
    namespace: str, tmp_path: Path
) -> None:
    async with odd(tmp_path) as client:
        found = await client.call_tool("search", {"words": "admin", "namespace": namespace})
    assert "admin_drop" in text_of(found)


async def test_a_rule_that_forbids_means_the_servers_own_names_too(tmp_path: Path) -> None:
    async with odd(tmp_path, NEVER) as client:
        result = await client.call_tool("run", {"code": "return await my_srv.admin_drop()"})
    assert result.is_error
    assert "E_DENIED" in text_of(result)


async def test_it_is_passed_with_its_own_names_and_what_it_says_of_them(tmp_path: Path) -> None:
    async with odd(tmp_path, passed="my-srv") as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        called = await client.call_tool("admin.drop", {})
    async with odd(tmp_path, passed="my-srv", trust=False) as client:
        untrusted = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert text_of(called) == "admin.drop"
    said = {name: tool.annotations for name, tool in listed.items()}
    told = {
        name: hints.model_dump(by_alias=True, exclude_none=True)
        for name, hints in said.items()
        if hints is not None
    }
    assert told["admin.drop"] == {"destructiveHint": True}
    assert told["admin.list"] == {"readOnlyHint": True, "openWorldHint": False}
    assert said["dash-ed"] is None
    titles = {name: tool.title for name, tool in listed.items() if tool.title is not None}
    assert titles == {"admin.drop": "Drop it", "admin.list": "List admins"}
    hints = untrusted["admin.list"].annotations
    assert hints is not None
    assert hints.read_only_hint is False


async def test_a_direct_glob_means_the_servers_own_names_too(tmp_path: Path) -> None:
    async with odd(tmp_path, direct=["my-srv.admin.*"]) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
    assert names[5:] == ["my-srv__admin_drop", "my-srv__admin_list"]


async def test_a_tool_that_is_left_out_is_told_of_where_it_is_asked_for(tmp_path: Path) -> None:
    source = mcp_server(python_server("hostile", "shadow"), name="h", trust=True)
    async with Session([source], workspace=tmp_path, policy=OPEN, store=False) as session:
        await session.ready()
        async with client_of(session) as client:
            found = await client.call_tool("search", {"words": "fine", "namespace": "h"})
            server = await client.call_tool("describe", {"names": ["h"]})
            tool = await client.call_tool("describe", {"names": ["h.read-file"]})
            other = await client.call_tool("describe", {"names": ["h.read-files"]})
            fine = await client.call_tool("run", {"code": "return await h.fine()"})
            named = await client.call_tool("run", {"code": "return await h.read_file()"})
            wrong = await client.call_tool("run", {"code": "return await h.nothing()"})
    assert "h.fine" in text_of(found)
    taken = "left out: its name is taken by 'Read_File'"
    assert "\nleft out: 'read-file' (its name is taken by 'Read_File')" in text_of(server)
    assert f"h.read_file: {taken}" in text_of(tool)
    assert f"h.read_file: {taken}" in text_of(named)
    for result in (found, server, tool, other, fine, named, wrong):
        assert "not there" not in text_of(result)
    for result in (found, other, fine, wrong):
        assert "left out" not in text_of(result)


async def test_a_tool_without_a_name_takes_no_other_with_it() -> None:
    source = mcp_server(python_server("odd"), name="s")
    async with source.opened(lambda: None):
        await source.ready()
        assert "s.admin_drop" in source.tools
        assert source.left_out["."] == "its name is taken by ''"


async def test_a_tool_that_runs_as_a_task_alone_is_left_out_with_the_reason() -> None:
    source = mcp_server(python_server("odd"), name="s")
    async with source.opened(lambda: None):
        await source.ready()
        assert "s.slow-or-not" in source.tools
        assert "s.slow" not in source.tools
        assert "taskSupport" in source.left_out["slow"]
        assert "taskSupport" in source.problem


async def test_a_search_and_a_description_tell_of_a_server_that_died_and_does_not_come_back(
    tmp_path: Path,
) -> None:
    gone = tmp_path / "gone"
    starts = f"test ! -e {shlex.quote(str(gone))} && exec {shlex.join(python_server('plain'))}"
    source = mcp_server(["sh", "-c", starts], name="shop", trust=True)
    async with Session([source], workspace=tmp_path, policy=OPEN, store=False) as session:
        await session.ready()
        async with client_of(session) as client:
            before = await client.call_tool("search", {"words": "orders"})
            gone.touch()
            await client.call_tool("run", {"code": "return await shop.die()"})
            for _ in range(100):
                if session.providers[0].problem:
                    break
                await client.call_tool("run", {"code": "return await shop.process()"})
            after = await client.call_tool("search", {"words": "orders"})
            described = await client.call_tool("describe", {"names": ["shop"]})
    assert "not there" not in text_of(before)
    assert "not there now: shop: " in text_of(after)
    assert "not there now: " in text_of(described)
