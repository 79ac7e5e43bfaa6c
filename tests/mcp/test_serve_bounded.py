"""What strangers and token holders may take of a served port: names, connections, sessions."""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import SocketStream
from anyio.lowlevel import checkpoint

from lineshaft import Session
from lineshaft.http import _connections as connections
from lineshaft.mcp.front import Front, HttpOptions, http, serve_http

TOKEN = "a-token-that-is-long-enough"  # noqa: S105  of these tests alone
KNOWN = {
    "Authorization": f"Bearer {TOKEN}",
    "Accept": "application/json, text/event-stream",
    "Content-Type": "application/json",
}
OPENING: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 0,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
INITIALIZED = {"jsonrpc": "2.0", "method": "notifications/initialized"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}


@asynccontextmanager
async def served(at: Path) -> AsyncGenerator[str]:
    """Serve over HTTP and give the address."""
    up = anyio.Event()
    found: list[str] = []

    def ready(address: str) -> None:
        found.append(address)
        up.set()

    async with Session([], workspace=at) as session, anyio.create_task_group() as group:
        options = HttpOptions(port=0, token=TOKEN, hosts=["shaft.example", "other.example:8443"])
        group.start_soon(lambda: serve_http(Front(session), options, ready=ready))
        await up.wait()
        with anyio.fail_after(60):
            yield found[0]
        group.cancel_scope.cancel()


async def post(url: str, body: dict[str, Any], **more: str) -> httpx2.Response:
    async with httpx2.AsyncClient(timeout=60) as client:
        return await client.post(url, json=body, headers={**KNOWN, **more})


@pytest.mark.parametrize(
    ("host", "comes_in"),
    [
        ("localhost", True),
        ("LOCALHOST:18765", True),
        ("127.0.0.1:1", True),
        ("[::1]:18765", True),
        ("shaft.example", True),
        ("shaft.example:443", True),
        ("other.example:8443", True),
        ("other.example", False),
        ("other.example:8444", False),
        ("127.0.0.1:18765@evil.com", False),
        ("localhost:evil.com", False),
        ("localhost:18765.evil.com", False),
        ("localhost:99999", False),
        ("localhost.", False),
        ("localhost.evil.com", False),
        ("evil.com", False),
        ("evil.com#localhost", False),
        ("[::1", False),
        ("", False),
    ],
)
async def test_hosts_and_origins_are_compared_whole(
    host: str, comes_in: bool, tmp_path: Path
) -> None:
    async with served(tmp_path) as url:
        named = await post(url, OPENING, Host=host)
        sent = [await post(url, OPENING, Origin=f"{each}://{host}") for each in ("http", "https")]
    expected = 200 if comes_in else 421
    assert named.status_code == expected
    assert [each.status_code for each in sent] == [200 if comes_in else 403] * 2


@pytest.mark.parametrize(
    "origin",
    ["null", "localhost", "file://localhost", "http://localhost/", "http://localhost:1?x", "//x"],
)
async def test_an_origin_that_is_none_does_not_come_in(origin: str, tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        assert (await post(url, OPENING, Origin=origin)).status_code == 403


async def test_two_origins_do_not_come_in(tmp_path: Path) -> None:
    async with served(tmp_path) as url:
        headers = [*KNOWN.items(), ("Origin", "http://localhost"), ("Origin", "http://evil.com")]
        async with httpx2.AsyncClient(timeout=60) as client:
            answer = await client.post(url, json=OPENING, headers=headers)
    assert answer.status_code == 403


@asynccontextmanager
async def _connected(url: str, count: int = 1) -> AsyncGenerator[list[SocketStream]]:
    host, _, port = url.removeprefix("http://").partition("/")[0].partition(":")
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(await anyio.connect_tcp(host, int(port)))
            for _ in range(count)
        ]


async def _closed(stream: SocketStream) -> bool:
    """Wait until the other side has closed a connection."""
    with anyio.fail_after(30):
        try:
            while await stream.receive():
                pass
        except (anyio.EndOfStream, anyio.BrokenResourceError):
            return True
    return False


@pytest.mark.parametrize("begun", [b"", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: "])
async def test_a_request_whose_header_does_not_come_is_given_up(
    begun: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)
    async with served(tmp_path) as url:
        async with _connected(url) as [stream]:
            if begun:
                await stream.send(begun)
            assert await _closed(stream)
        assert (await post(url, OPENING)).status_code == 200


async def test_a_second_header_that_does_not_come_is_given_up_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEADER_SECONDS", 0.2)
    async with served(tmp_path) as url, _connected(url) as [stream]:
        await stream.send(b"GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\nGET /no")
        assert b"404" in await stream.receive()
        await stream.send(b"thing")
        assert await _closed(stream)


async def test_the_oldest_half_open_connection_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    async with served(tmp_path) as url, _connected(url, 20) as streams:
        for stream in streams:
            await stream.send(b"POST /mcp HTTP/1.1\r\n")
        assert (await post(url, OPENING)).status_code == 200
        assert await _closed(streams[0])


@pytest.mark.long
async def test_a_body_that_does_not_come_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_BODY_SECONDS", 0.2)
    async with served(tmp_path) as url:
        head = "".join(f"{name}: {value}\r\n" for name, value in KNOWN.items())
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n{head}\r\n{{"
        async with _connected(url) as [stream]:
            await stream.send(head.encode())
            assert await _closed(stream)
        assert (await post(url, OPENING)).status_code == 200


async def _opened(url: str, *, used: bool = True) -> dict[str, str]:
    answer = await post(url, OPENING)
    assert answer.status_code == 200, answer.text
    session = {"Mcp-Session-Id": answer.headers["mcp-session-id"]}
    if used:
        assert (await post(url, INITIALIZED, **session)).status_code == 202
    return session


async def test_the_session_that_was_idle_longest_makes_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_SESSIONS", 3)
    async with served(tmp_path) as url:
        first, second, third = [await _opened(url) for _ in range(3)]
        assert (await post(url, PING, **first)).status_code == 200
        async with httpx2.AsyncClient(timeout=60) as client:
            listening = {**KNOWN, **second, "Accept": "text/event-stream"}
            async with client.stream("GET", url, headers=listening) as stream:
                assert stream.status_code == 200
                fourth = await _opened(url)
        codes = [(await post(url, PING, **each)).status_code for each in (first, second, fourth)]
        assert codes == [200, 200, 200]
        assert (await post(url, PING, **third)).status_code == 404


async def test_a_session_whose_client_does_not_come_back_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(http, "_OPENED_SECONDS", 3)
    caplog.set_level("INFO", "mcp.server.streamable_http_manager")
    async with served(tmp_path) as url:
        stays = await _opened(url)
        goes = await _opened(url, used=False)
        ended = f"Session {goes['Mcp-Session-Id']} idle timeout"
        while ended not in caplog.messages:
            await checkpoint()
        assert (await post(url, PING, **goes)).status_code == 404
        assert (await post(url, PING, **stays)).status_code == 200
