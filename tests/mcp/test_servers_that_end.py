"""What is said of a server that does not start, or ends: the error it ended by, and no secret."""

import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
import pytest
from mcp import MCPError
from mcp.server.lowlevel.server import Server

from lineshaft import Policy, Session
from lineshaft.mcp import Claim, ServerSpec
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.client import McpServer
from upstreams.real import python_server

SECRET = "hunter-two-Kx7Qp2Wv9Zt4Rb8"  # noqa: S105  a test's, of no known form


async def problem_of(spec: ServerSpec) -> str:
    source = McpServer(spec, name="s")
    async with source.opened(lambda: None):
        await source.ready()
        return source.problem


def python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import nothing_here", "ModuleNotFoundError: No module named 'nothing_here'"),
        ("def f(): raise ValueError('no port')\nf()", "ValueError: no port"),
        ("raise ExceptionGroup('many', [KeyError('TOKEN')])", "KeyError: 'TOKEN'"),
        ("import sys; sys.exit('config.toml is missing')", "it last said: config.toml is missing"),
        (
            "import sys; sys.exit('x;\\n\\nError: no module \\'x.js\\'\\n at M\\n\\nNode.js v22')",
            "Error: no module 'x.js'",
        ),
    ],
)
async def test_the_error_that_ended_it_is_what_is_said(code: str, said: str) -> None:
    problem = await problem_of(ServerSpec(command=python(code)))
    assert f"it exited with code 1; {said}" in problem
    assert "Traceback" not in problem
    assert "Node.js" not in problem


@pytest.mark.parametrize(
    "code",
    [
        "from mcp.server.fastmcp import FastMCP",
        "raise ImportError(\"cannot import name 'FastMCP' from 'mcp.server' (x.py)\")",
    ],
)
async def test_a_server_for_the_older_sdk_is_told(code: str) -> None:
    assert "install `mcp<2` where it runs" in await problem_of(ServerSpec(command=python(code)))


async def test_nothing_else_is_taken_for_the_older_sdk() -> None:
    assert "mcp<2" not in await problem_of(ServerSpec(command=python("import mcp_of_ours")))


@pytest.mark.parametrize("at", range(770, 810, 3))
async def test_a_secret_in_its_last_words_is_not_cut_in_two(at: int, tmp_path: Path) -> None:
    code = f"import os, sys; sys.exit('x' * 5_000 + os.environ['API_TOKEN'] + 'y' * {at})"
    spec = ServerSpec(command=python(code), env={"API_TOKEN": SECRET})
    problem = await problem_of(spec)
    assert "yyyy" in problem
    assert not any(SECRET[n : n + 5] in problem for n in range(len(SECRET) - 5))
    # One that only the session knows.
    spec = ServerSpec(command=python(code), env={"HARMLESS": "1", "API_TOKEN": SECRET})
    policy = Policy.from_dict({"mode": "open"})
    async with Session(
        [mcp_server(spec, name="s")],
        workspace=tmp_path,
        secrets=[SECRET],
        policy=policy,
        store=False,
    ) as session:
        result = await session.run("return await s.nothing()")
        text = session.told(result).text
    assert not any(SECRET[n : n + 5] in text for n in range(len(SECRET) - 5))


async def test_what_is_no_text_in_its_last_words_is_told() -> None:
    code = "import os, sys; os.write(2, 'café'.encode('latin-1')); sys.exit(1)"
    problem = await problem_of(ServerSpec(command=python(code)))
    assert "it last said: caf\ufffd; 1 bytes of it are not UTF-8" in problem


async def test_a_session_ends_while_what_a_server_offers_is_still_looked_through() -> None:
    begun, released = threading.Event(), threading.Event()

    def claims(found: Sequence[Claim], digest: str) -> None:
        del found, digest
        begun.set()
        released.wait()

    late = threading.Timer(30, released.set)
    late.start()
    try:
        source = McpServer(python_server("notes"), name="s", claims=claims)
        async with source.opened(lambda: None):
            assert await anyio.to_thread.run_sync(begun.wait, 30)
        assert not released.is_set(), "it waited for the thread"
        assert not source.tools
    finally:
        late.cancel()
        released.set()


async def test_an_error_of_a_server_in_process_is_not_its_end() -> None:
    async def listed(context: object, params: object) -> types.ListToolsResult:
        del context, params
        return types.ListToolsResult(tools=[types.Tool(name="t", input_schema={"type": "object"})])

    async def called(context: object, params: object) -> types.CallToolResult:
        del context, params
        raise MCPError(types.CONNECTION_CLOSED, "rate limited: try again in 5 s")

    server: Server[Any] = Server("s", on_list_tools=listed, on_call_tool=called)
    policy = Policy.from_dict({"mode": "open"})
    async with Session(mcp_server(server, name="s"), policy=policy, store=False) as session:
        result = await session.call("s.t")
    assert result.error is not None
    assert result.error.message == "rate limited: try again in 5 s"
