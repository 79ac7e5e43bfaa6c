"""What a server answers becomes the value that a script would expect."""

import json
from collections.abc import AsyncGenerator
from typing import Any

import pytest

from lineshaft import Policy, Session
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.client import McpServer
from lineshaft.values import CallResult
from upstreams import contents

OPEN = Policy.from_dict({"mode": "open"})


@pytest.fixture
async def source() -> McpServer:
    return mcp_server(contents.server, name="c")


@pytest.fixture
async def session(source: McpServer) -> AsyncGenerator[Session]:
    async with Session([source], policy=OPEN, store=False) as entered:
        yield entered


async def call(session: Session, tool: str, **arguments: object) -> CallResult:
    return await session.call(f"c.{tool}", arguments)


@pytest.mark.parametrize(
    ("tool", "value"),
    [
        ("a_number", 7),
        ("points", [{"x": 1, "y": 2}]),
        ("a_point", {"x": 1, "y": 2}),
        ("own_result", {"result": 3}),
        ("a-name", "x"),
        ("a_model", {"result": "x"}),
        ("nothing", None),
    ],
)
async def test_structured_results_come_unwrapped(
    session: Session, tool: str, value: object
) -> None:
    result = await call(session, tool)
    assert result.error is None
    assert result.value == value


async def test_what_is_unwrapped_is_declared_so(session: Session) -> None:
    assert (await call(session, "maybe", given=False)).value is None
    assert (await call(session, "maybe", given=True)).value == "yes"
    stubs = session.tools.stubs()
    assert "async def a_number() -> int" in stubs
    assert "async def maybe(given: bool) -> str | None" in stubs


async def test_blocks_of_every_kind_come_in_order(session: Session, source: McpServer) -> None:
    value: Any = (await call(session, "many")).value
    text, audio, words, blob, link = value
    assert text == "one"
    assert (audio["type"], audio["mime_type"], audio["bytes"]) == ("audio", "audio/wav", 5)
    assert words == {
        "type": "resource",
        "uri": "a://b",
        "mime_type": "text/plain",
        "text": "words",
    }
    assert (blob["type"], blob["uri"], blob["mime_type"]) == ("resource", "a://c", "x/y")
    assert link == {"type": "resource_link", "uri": "a://d", "name": "d", "bytes": 4}
    assert source.content(blob["handle"]).data == b"bytes"
    assert source.content(audio["handle"]).kind == "audio"
    json.dumps(value)


async def test_handles_are_given_up_for_newer_ones(session: Session, source: McpServer) -> None:
    first: Any = (await call(session, "picture", size=5)).value
    last: Any = None
    for _ in range(256):
        last = (await call(session, "picture", size=5)).value
    assert source.content(last["handle"]).data == bytes(5)
    with pytest.raises(LookupError):
        source.content(first["handle"])


async def test_a_tool_that_fails_raises_what_it_said(session: Session) -> None:
    script = """
try:
    await c.refuse()
except ToolError as error:
    return [error.code, error.tool, str(error)]
"""
    found = await session.run(script)
    assert found.value == ["E_TOOL_FAILED", "c.refuse", "not today"]


async def test_a_result_counts_once_in_bytes_as_a_script_sees_it(session: Session) -> None:
    found = await session.run("return len((await c.twice(characters=4_500_000))['text'])")
    assert found.error is None, found.error
    assert found.value == 4_500_000  # 9 MB, told twice, and escaped on the way
    refused = await call(session, "twice", characters=5_100_000)
    assert refused.error is not None
    assert refused.error.code == "E_TOO_LARGE"


async def test_a_result_that_is_too_large_is_dropped(session: Session) -> None:
    result = await call(session, "long", characters=11_000_000)
    assert result.error is not None
    assert result.error.code == "E_TOO_LARGE"
    assert "the call was made" in result.error.message
    picture = await call(session, "picture", size=9_000_000)
    assert picture.error is not None
    assert picture.error.code == "E_TOO_LARGE"
