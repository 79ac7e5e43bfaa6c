"""Servers at an address that do wrong harm only their own calls, too."""

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import cast

import anyio
import anyio.lowlevel
import pytest
from mcp import MCPError

from fronts import client_of
from lineshaft import Limits, Policy, Session
from lineshaft.mcp.client import McpServer
from upstreams.addresses import free_port, listening
from upstreams.real import python_server

OPEN = Policy.from_dict({"mode": "open"})


@dataclass(frozen=True, kw_only=True)
class Row:
    kind: str
    code: str = "E_TOOL_FAILED"
    error: str = ""
    """A pattern."""


ROWS = [
    Row(kind="huge-json", code="E_TOO_LARGE", error="larger than 10,000,000 bytes"),
    Row(kind="huge-event", code="E_TOO_LARGE", error="larger than 10,000,000 bytes"),
    Row(kind="compressed", error="compressed answer"),
    Row(kind="elsewhere", error="127.0.0.2"),
    Row(kind="accepts", error="202"),
    Row(kind="page", error="text/html"),
    Row(kind="breaks", error="answered 500.*may have happened"),
    Row(kind="times-out", error='answered 504 [^;]*: {"message": "timed out"}.*may have happened'),
    Row(kind="forbids", error='^it answered 403 Forbidden: {"message": "no such plan"}$'),
    Row(kind="needs-a-key", error='^it answered 400 Bad Request: {"message": "no API key"}$'),
    Row(kind="busy", error="^it answered 429[^;]*$"),
    *(
        Row(kind=kind, error="^it answered with what is no JSON-RPC message of MCP$")
        for kind in ("no-json", "no-event", "batch")
    ),
    Row(kind="refuses", error="^it answered 413 [^;]*$"),
    Row(kind="wrong-id", code="E_TOOL_TIMEOUT"),
    Row(kind="forgets-again", error="knows this session no more; nothing was done"),
    Row(kind="charges-200", error="^the server knows this session no more$"),
    Row(kind="charges-400", error="charged 1, but"),
    Row(kind="charges-404", error="charged 1, but"),
    *(
        Row(kind=f"limits-{status}", error="^rate limited: try again in 5 s$")
        for status in (200, 503)
    ),
    Row(kind="drips", code="E_TOOL_TIMEOUT"),
    Row(kind="breaks-off", error="broke off.*may have happened"),
    Row(kind="ends", error="may have happened"),
]


@pytest.mark.long
@pytest.mark.parametrize("row", ROWS, ids=[row.kind for row in ROWS])
async def test_a_hostile_address_harms_only_its_own_calls(row: Row) -> None:
    port = free_port()
    limits = Limits(call_seconds=2 if row.code == "E_TOOL_TIMEOUT" else 60)
    async with listening(python_server("hostile_http", row.kind, str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with Session([source], policy=OPEN, limits=limits, store=False) as session:
            result = await session.call("h.wrong")
            again = await session.call("h.fine")
            assert result.error is not None, result.value
            assert result.error.code == row.code, result.error
            assert re.search(row.error, result.error.message, re.DOTALL), result.error.message
            assert again.value == "fine", again


async def test_a_server_of_the_old_transport_is_told_as_what_it_may_be() -> None:
    port = free_port()
    async with listening(python_server("hostile_http", "old", str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with Session([source], policy=OPEN, store=False) as session:
            await session.ready()
            assert source.problem.startswith("it answered 405 Method Not Allowed: ")
            assert "HTTP+SSE" in source.problem


async def test_a_stream_that_ends_at_once_is_not_opened_all_the_time() -> None:
    port = free_port()
    async with listening(python_server("hostile_http", "ends-streams", str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with Session([source], policy=OPEN, store=False) as session:
            began, opened = time.monotonic(), 0
            while opened < 60:
                opened = int(str((await session.call("h.wrong")).value))
            assert opened < 20 * (time.monotonic() - began + 2)


@pytest.mark.parametrize("kind", ["holds", "mute"])
async def test_of_a_call_that_is_given_up_no_connection_is_held(kind: str) -> None:
    port = free_port()
    async with listening(python_server("hostile_http", kind, str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        limits = Limits(call_seconds=1)
        async with Session([source], policy=OPEN, limits=limits, store=False) as session:
            result = await session.call("h.wrong")
            assert result.error is not None
            assert result.error.code == "E_TOOL_TIMEOUT"
            with anyio.fail_after(30):
                while (await session.call("h.fine")).value != "left":
                    await anyio.lowlevel.checkpoint()


async def test_what_is_answered_in_the_middle_of_a_call_reaches_the_server() -> None:
    async def said(message: str, schema: Mapping[str, object]) -> object:
        assert message.endswith("Who?")
        return dict.fromkeys(cast("Mapping[str, object]", schema["properties"]), "Bo")

    port = free_port()
    async with listening(python_server("hostile_http", "asks", str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with Session([source], policy=OPEN, elicit=said, store=False) as session:
            assert (await session.call("h.wrong")).value == "Bo"


async def test_what_we_say_in_the_place_of_an_address_is_told_without_our_mark() -> None:
    port = free_port()
    async with listening(python_server("hostile_http", "breaks", str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with (
            Session([source], policy=OPEN, store=False) as session,
            client_of(session, passed="h") as client,
        ):
            for ask in (client.list_resources, partial(client.read_resource, "x://a")):
                with pytest.raises(MCPError, match="answered 500") as caught:
                    await ask()
                assert caught.value.error.data is None


@pytest.mark.parametrize(
    "kind", ["forgets", "forgets-as-typescript", "forgets-as-python", "forgets-by-400"]
)
async def test_a_server_that_lost_our_session_is_met_anew_and_asked_again(kind: str) -> None:
    port = free_port()
    async with listening(python_server("hostile_http", kind, str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with Session([source], policy=OPEN, store=False) as session:
            for _ in range(2):
                assert (await session.call("h.wrong")).value == "lost"
                assert (await session.call("h.fine")).value == "fine"


@pytest.mark.parametrize("kind", ["half-json", "half-event"])
async def test_half_characters_of_a_result_are_replaced(kind: str) -> None:
    port = free_port()
    async with listening(python_server("hostile_http", kind, str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with Session([source], policy=OPEN, store=False) as session:
            result = await session.call("h.wrong")
    assert result.value == "\ufffd cut \\ud83d \U0001f600 \ufffd", result


async def test_an_answer_that_begins_with_the_mark_of_its_encoding_is_read() -> None:
    port = free_port()
    async with listening(python_server("hostile_http", "marked", str(port)), port):
        source = McpServer(f"http://127.0.0.1:{port}/mcp", name="h")
        async with Session([source], policy=OPEN, store=False) as session:
            assert (await session.call("h.wrong")).value == "marked"
