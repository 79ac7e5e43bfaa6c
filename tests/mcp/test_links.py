"""Connections to servers: they follow changes, keep callers apart, and leave nothing behind."""

import os
import re
import secrets
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import psutil
import pytest
from anyio.abc import SocketStream

from lineshaft import Limits, Policy, Session
from lineshaft.mcp import Claim, ServerSpec
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.client import McpServer, connection
from lineshaft.values import Effect
from upstreams.addresses import free_port, listening
from upstreams.real import python_server

OPEN = Policy.from_dict({"mode": "open"})


def hostile(kind: str, *arguments: str) -> McpServer:
    return mcp_server(python_server("hostile", kind, *arguments), name="h")


async def test_a_tool_that_appears_later_is_offered_to_later_runs() -> None:
    source = hostile("grows")
    changed = anyio.Event()

    def look() -> None:
        if "h.later" in source.tools:
            changed.set()

    async with source.opened(look):
        await source.ready()
        assert list(source.tools) == ["h.fine"]
        async with Session([source.tools], policy=OPEN, store=False) as session:
            assert (await session.call("h.fine")).value == "fine"
        with anyio.fail_after(10):
            await changed.wait()


@pytest.mark.parametrize("kind", ["freezes", "freezes-newest"])
async def test_a_program_that_answers_nothing_more_is_ended_and_started_anew(
    monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(connection, "_PATIENCE", 0.5)
    source = mcp_server(python_server("hostile", kind), name="h")
    ended = anyio.Event()

    def look() -> None:
        if "answered nothing" in source.problem:
            ended.set()

    limits = Limits(call_seconds=1)
    async with source.opened(look):
        await source.ready()
        async with Session([source.tools], policy=OPEN, limits=limits, store=False) as session:
            late = await session.call("h.wrong")
            assert late.error is not None
            assert late.error.code == "E_TOOL_TIMEOUT"
            with anyio.fail_after(30):
                await ended.wait()
            assert (await session.call("h.fine")).value == "fine"


async def test_changes_are_heard_of_again_after_an_outage() -> None:
    port = free_port()
    source = mcp_server(f"http://127.0.0.1:{port}/mcp", name="shop")
    changed = anyio.Event()

    def look() -> None:
        if "shop.later" in source.tools:
            changed.set()

    async with AsyncExitStack() as stack:
        async with listening(python_server("plain", str(port)), port):
            await stack.enter_async_context(source.opened(look))
            await source.ready()
            assert source.problem == ""
        await _refuse(port, "subscriptions/listen")
        async with listening(python_server("plain", str(port), "later"), port):
            with anyio.fail_after(60):
                await changed.wait()


async def _refuse(port: int, method: str) -> None:
    """Break off connections at a port, until the method has been asked for."""
    asked = anyio.Event()

    async def take(stream: SocketStream) -> None:
        async with stream:
            head = await stream.receive()
            if method in head.decode("latin-1"):
                asked.set()

    listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=port)
    async with listener, anyio.create_task_group() as group:
        group.start_soon(listener.serve, take)
        with anyio.fail_after(60):
            await asked.wait()
        group.cancel_scope.cancel()


async def test_runs_wait_once_for_a_server_that_lists_its_tools_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("lineshaft.mcp.client.provider._LIST_SECONDS", 2.0)
    monkeypatch.setattr("lineshaft.mcp.client.provider._SHORTEST_TTL", 0.001)
    source = hostile("lists-once")
    problems: list[str] = []
    async with source.opened(lambda: problems.append(source.problem)):
        await source.ready()
        assert problems[0] == ""  # by now its list may hold no longer
        while len(problems) == 1:  # until its list no longer holds
            async with anyio.create_task_group() as group:
                for _ in range(5):
                    group.start_soon(source.ready)
        assert len(problems) == 2
        assert "could not be listed again" in problems[1]
        assert "h.fine" in source.tools


async def test_of_a_list_no_more_is_held_than_is_shown() -> None:
    """Twenty tools with nine megabytes of words each."""
    before = psutil.Process().memory_info().rss
    async with hostile("heavy") as tools:
        assert len(tools) == 21
        held = psutil.Process().memory_info().rss - before
        assert all(len(tool.spec.description) < 3_000 for tool in tools.values())
    assert held < 150_000_000


async def test_what_is_too_much_of_a_list_is_left_out_with_the_reason() -> None:
    source = hostile("heavy-schemas")
    async with source as tools:
        assert "h.fine" in tools
        assert "together have more than 20,000,000 bytes" in source.problem
        assert len(source.left_out) < 6


async def test_claims_are_asked_for_again_when_anything_else_has_changed() -> None:
    asked: list[str] = []
    twice = anyio.Event()

    def answer(claims: Sequence[Claim], digest: str) -> Mapping[str, Effect] | None:
        assert [claim.effect for claim in claims] == ["read", "external"]
        asked.append(digest)
        if len(asked) > 1:
            twice.set()
            return None
        return {"h.delete_all": "read"}

    source = mcp_server(python_server("hostile", "changing"), name="h", claims=answer)
    async with source.opened(lambda: None):
        await source.ready()
        assert source.tools["h.delete_all"].spec.effect == "read"
        first = source.tools["h.fine"]
        async with Session([source.tools], policy=OPEN, store=False) as session:
            await session.call("h.fine")
        with anyio.fail_after(10):
            await twice.wait()
            while source.tools["h.delete_all"].spec.effect == "read":
                await anyio.sleep(0.01)
        assert source.tools["h.fine"] is first
    assert len(set(asked)) == 2


async def test_a_question_is_not_put_to_the_wrong_one_of_two_callers() -> None:
    source = mcp_server(
        python_server("hostile", "asks-of-two"),
        name="h",
        claims=lambda claims, _digest: {claim.tool: "read" for claim in claims},
    )
    questions: list[str] = []

    async def elicit(message: str, schema: Mapping[str, object]) -> object:
        del schema
        questions.append(message)
        return {"secret": "of the wrong person"}

    script = "return await asyncio.gather(h.wrong(), h.wrong())"
    async with Session([source], policy=OPEN, elicit=elicit, store=False) as session:
        result = await session.run(script)
    assert result.error is None
    assert "cannot be told which call" in str(result.value)
    assert questions == []


async def test_a_question_that_nobody_answers_is_refused_and_not_declined() -> None:
    async with Session([hostile("asks")], policy=OPEN, store=False) as session:
        result = await session.call("h.wrong")
    assert "no person can be asked" in str(result.value)
    assert "decline" not in str(result.value)


async def test_an_address_to_open_is_shown_to_the_person() -> None:
    questions: list[str] = []

    async def elicit(message: str, schema: Mapping[str, object]) -> object:
        del schema
        questions.append(message)
        return None

    source = hostile("asks-to-browse")
    async with Session([source], policy=OPEN, elicit=elicit, store=False) as session:
        await session.call("h.wrong")
    assert len(questions) == 1
    assert "h.wrong: Look" in questions[0]
    assert "https://grant.example/x" in questions[0]


async def test_a_reference_to_the_network_is_not_followed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        port = listener.getsockname()[1]
        async with hostile("schema-network", f"http://127.0.0.1:{port}/schema.json") as tools:
            assert list(tools) == ["h.fine"]
        with pytest.raises(BlockingIOError):
            listener.accept()


async def test_what_a_server_started_ends_with_it() -> None:
    seconds = str(100_000 + secrets.randbelow(100_000))
    async with Session([hostile("leaves-children", seconds)], policy=OPEN, store=False) as session:
        assert (await session.call("h.wrong")).value == "left"
        assert _running("sleep", seconds)
    assert not _running("sleep", seconds)


async def test_a_server_ends_when_its_host_is_killed(tmp_path: Path) -> None:
    mark = secrets.token_hex(8)
    command = python_server("hostile", "drip", mark)
    program = f"""
import anyio, os, signal
from lineshaft.mcp.client import McpServer, connection
async def main():
    async with McpServer({command!r}, name="h"):
        os.kill(os.getpid(), signal.SIGKILL)
anyio.run(main)
"""
    done = await anyio.to_thread.run_sync(
        lambda: subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=False)
    )
    assert done.returncode == -9
    with anyio.fail_after(10):
        while _running(mark):
            await anyio.sleep(0.01)


async def test_a_server_at_an_address_is_used_like_one_that_is_started() -> None:
    port = free_port()
    async with listening(python_server("plain", str(port)), port):
        spec = ServerSpec(url=f"http://127.0.0.1:{port}/mcp", headers={"X-Given": "yes"})
        async with Session([McpServer(spec, name="shop")], policy=OPEN, store=False) as session:
            script = """
found = await shop.orders(customer="ada")
return await asyncio.gather(*[shop.total(order=n) for n in found])
"""
            assert (await session.run(script)).value == [10.5, 4.5]
            lost = await session.call("shop.die")
            assert lost.error is not None
            assert "may have happened" in lost.error.message
            gone = await session.call("shop.total", {"order": 1})
            assert gone.error is not None
            assert re.search("cannot be reached|broke off", gone.error.message)


async def test_nobody_at_an_address_is_told_with_the_reason() -> None:
    source = McpServer(f"http://127.0.0.1:{free_port()}/mcp", name="nobody")
    async with source.opened(lambda: None):
        await source.ready()
        assert "cannot be reached" in source.problem
        assert len(source.tools) == 0


async def test_a_server_that_cannot_start_is_not_started_all_the_time() -> None:
    source = hostile("stillborn")
    async with source.opened(lambda: None):
        await source.ready()
        assert "no licence" in source.problem
        told = source.problem
        await source.ready()  # at once: it is not tried again yet
        assert source.problem is told


async def test_a_proxy_that_the_person_has_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as proxy:

        def first() -> bytes:
            stream, _address = proxy.accept()
            with stream:
                proxy.close()
                return stream.recv(100)

        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.getsockname()[1]}")
        monkeypatch.delenv("no_proxy", raising=False)
        source = McpServer("http://server.example/mcp", name="far")
        async with source.opened(lambda: None):
            found = await anyio.to_thread.run_sync(first, abandon_on_cancel=True)
            assert found.startswith(b"POST http://server.example/mcp")
            await source.ready()
            assert "cannot be reached" in source.problem


def test_the_room_is_loaded_without_the_sdk() -> None:
    code = (
        "import sys, lineshaft.mcp; from lineshaft.mcp import ServerSpec, Claim; "
        "sys.exit('mcp' in sys.modules or 'mcp_types' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def _running(*words: str) -> bool:
    for process in psutil.process_iter():
        try:
            line = process.cmdline()
        except psutil.Error:
            continue
        if process.pid != os.getpid() and all(word in line for word in words):
            return True
    return False
