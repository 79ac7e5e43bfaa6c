"""A client of the older protocol that loses a stream over HTTP, and comes back to it."""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import anyio
import httpx2
import mcp_types as types
import pytest
from anyio.abc import SocketAttribute, SocketStream
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from fronts import OPEN, data_of
from lineshaft import Session, tool
from lineshaft.mcp.front import Front, HttpOptions, serve_http

TOKEN = "a-token-that-is-long-enough"  # noqa: S105  of these tests alone
BOUNDS = "lineshaft.mcp.front.events"
LATER: dict[str, Any] = {"name": "run", "arguments": {"code": "return await later()"}, "_meta": {}}
HEARD = {**LATER, "_meta": {"progressToken": "p"}}


@dataclass
class World:
    """A server of this process, and its one slow tool."""

    url: str = ""
    began: anyio.Event = field(default_factory=anyio.Event)
    answer: anyio.Event = field(default_factory=anyio.Event)
    ended: anyio.Event = field(default_factory=anyio.Event)
    text: str = "done"
    calls: int = 0

    async def later(self) -> str:
        """Answer later."""
        self.calls += 1
        self.began.set()
        try:
            await self.answer.wait()
        finally:
            self.ended.set()
        return self.text


@asynccontextmanager
async def served(at: Path) -> AsyncGenerator[tuple[World, Session]]:
    world, up = World(), anyio.Event()

    def ready(address: str) -> None:
        world.url = address
        up.set()

    tools = [tool(effect="read")(world.later)]
    async with (
        Session(tools, workspace=at, policy=OPEN, store=at / "store.db") as session,
        anyio.create_task_group() as group,
    ):
        options = HttpOptions(port=0, token=TOKEN)
        front = Front(session, direct=["later"])
        serve = group.start_soon
        serve(lambda: serve_http(front, options, ready=ready))
        await up.wait()
        with anyio.fail_after(60):
            yield world, session
        group.cancel_scope.cancel()


Event = tuple[str, str]
"""The id of an event, and its data."""


@dataclass
class Raw:
    """A client that speaks plain HTTP."""

    http: httpx2.AsyncClient
    url: str
    headers: dict[str, str]

    @asynccontextmanager
    async def post(self, method: str, **params: Any) -> AsyncGenerator[AsyncIterator[Event]]:
        """Ask for something, and give the events of the answer."""
        body = {"jsonrpc": "2.0", "id": method, "method": method, "params": params}
        sent = self.http.stream("POST", self.url, json=body, headers=self.headers)
        async with sent as answer:
            assert answer.status_code == 200
            if method == "initialize":
                self.headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
            yield events_of(answer)

    @asynccontextmanager
    async def back(self, last: str) -> AsyncGenerator[AsyncIterator[Event]]:
        """Come back to a stream."""
        headers = {**self.headers, "Last-Event-ID": last}
        async with self.http.stream("GET", self.url, headers=headers) as answer:
            assert answer.status_code == 200
            yield events_of(answer)


async def events_of(answer: httpx2.Response) -> AsyncIterator[Event]:
    name = data = ""
    async for line in answer.aiter_lines():
        key, _, value = line.partition(": ")
        if key == "id":
            name = value
        elif key in ("data", "data:"):
            data = value
        elif not line:
            yield name, data
            name = data = ""


@asynccontextmanager
async def raw(world: World, version: str = "2025-11-25") -> AsyncGenerator[Raw]:
    headers = {
        "Authorization": f"Bearer {TOKEN}",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": version,
    }
    async with httpx2.AsyncClient(timeout=60) as http:
        client = Raw(http, world.url, headers)
        about = {"name": "raw", "version": "1"}
        hello = {"protocolVersion": version, "capabilities": {}, "clientInfo": about}
        async with client.post("initialize", **hello) as events:
            assert [data async for _, data in events][-1]
        body = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        await http.post(world.url, json=body, headers=client.headers)
        yield client


async def lost(client: Raw, world: World, **params: Any) -> str:
    """Begin a call, lose its stream at once, and return where it may be come back to."""
    async with client.post("tools/call", **(params or LATER)) as events:
        where, data = await anext(events)
        assert (bool(where), data) == (True, "")
        await world.began.wait()
    return where


def value_of(event: Event) -> object:
    """Return the value of a run."""
    return json.loads(event[1])["result"]["_meta"]["lineshaft/run"]["value"]


async def test_who_comes_back_gets_what_was_missed_and_what_comes(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, session), raw(world) as client:
        where = await lost(client, world, **HEARD)
        async with client.back(where) as events:
            missed = json.loads((await anext(events))[1])
            world.answer.set()
            rest = [event async for event in events]
        assert session.store is not None
        runs = await session.store.runs()
    assert missed["params"] == {"progressToken": "p", "progress": 1, "message": "call 1: later"}
    assert [value_of(event) for event in rest] == ["done"]
    assert (world.calls, [run.status for run in runs]) == (1, ["success"])


@dataclass
class Cut:
    """A way to a server that breaks off when a test says so."""

    url: str
    ends: list[SocketStream] = field(default_factory=list[SocketStream])

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[str]:
        """Pass everything on inside the block; give the address."""
        async with (
            await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
            anyio.create_task_group() as group,
        ):
            group.start_soon(listener.serve, self._pass)
            port = listener.extra(SocketAttribute.local_port)  # noqa: S610  no Django here
            yield f"http://127.0.0.1:{port}/mcp"
            group.cancel_scope.cancel()

    async def break_off(self) -> None:
        """Break off all connections."""
        ends, self.ends = self.ends, []
        for end in ends:
            await end.aclose()

    async def _pass(self, client: SocketStream) -> None:
        address = urlsplit(self.url)
        server = await anyio.connect_tcp(str(address.hostname), address.port or 0)
        self.ends += [client, server]
        async with client, server, anyio.create_task_group() as group:
            group.start_soon(_pump, client, server)
            await _pump(server, client)
            group.cancel_scope.cancel()


async def _pump(source: SocketStream, target: SocketStream) -> None:
    with suppress(anyio.EndOfStream, anyio.ClosedResourceError, anyio.BrokenResourceError):
        while True:
            await target.send(await source.receive())


@pytest.mark.parametrize("meanwhile", [True, False])
async def test_the_sdks_client_comes_back_by_itself(meanwhile: bool, tmp_path: Path) -> None:
    came: list[types.CallToolResult] = []
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with served(tmp_path) as (world, _):
        cut = Cut(world.url)
        async with cut.opened() as url, httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(url, http_client=http)
            async with (
                Client(transport, mode="legacy") as client,
                anyio.create_task_group() as group,
            ):

                async def call() -> None:
                    came.append(await client.call_tool("run", LATER["arguments"]))

                group.start_soon(call)
                await world.began.wait()
                if meanwhile:
                    world.answer.set()
                    await world.ended.wait()
                await cut.break_off()
                world.answer.set()
    assert [data_of(each)["value"] for each in came] == ["done"]
    assert world.calls == 1


async def test_an_answer_that_came_meanwhile_is_had_more_than_once(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, _), raw(world) as client:
        where = await lost(client, world)
        world.answer.set()
        last = ""
        for _ in range(2):
            async with client.back(where) as events:
                came = [event async for event in events]
            assert value_of(came[-1]) == "done"
            last = came[-1][0]
        async with client.back(last) as events:
            assert [event async for event in events] == []


async def test_a_stream_is_nobody_elses(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, _), raw(world) as client, raw(world) as other:
        where = await lost(client, world)
        world.answer.set()
        async with client.back(where) as events:
            assert [event async for event in events]
        key = where.partition(".")[0]
        for name in (
            where,
            f"{key}.0",
            "1",
            "tools/call.0",
            "_GET_stream.0",
            f"{key}.x",
            f"x{key}.0",
        ):
            async with other.back(name) as events:
                assert [event async for event in events] == []
        for name in (f"{key}.x", f"{key}.{'9' * 5_000}", f"x{key}.0"):
            async with client.back(name) as events:
                assert [event async for event in events] == []
        bare = {**client.headers, "Last-Event-ID": where, "Authorization": "Bearer wrong"}
        assert (await client.http.get(world.url, headers=bare)).status_code == 401


async def test_streams_of_two_sessions_with_the_same_request_ids_stay_apart(tmp_path: Path) -> None:
    async with served(tmp_path) as (world, _), raw(world) as client, raw(world) as other:
        first = await lost(client, world)
        second = await lost(other, world, name="later", arguments={})
        world.answer.set()
        async with client.back(first) as events:
            assert value_of([event async for event in events][-1]) == "done"
        async with other.back(second) as events:
            data = [event async for event in events][-1][1]
        assert json.loads(data)["result"]["content"][0]["text"] == "done"


@pytest.mark.parametrize("returns", [0, 1, 2])
async def test_who_does_not_come_back_in_time_ends_the_run(
    returns: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grace = f"{BOUNDS}.GRACE_SECONDS"
    monkeypatch.setattr(grace, 0 if returns == 0 else 1e9)
    async with served(tmp_path) as (world, session), raw(world) as client:
        where = await lost(client, world, **HEARD)
        for left in reversed(range(returns)):
            async with client.back(where) as events:
                assert "call 1: later" in (await anext(events))[1]
                monkeypatch.setattr(grace, 0 if left == 0 else 1e9)
                assert not world.ended.is_set()
        await world.ended.wait()
        async with client.back(where) as events:
            told = json.loads([event async for event in events][-1][1])
        assert session.store is not None
        status = "running"
        while status == "running":
            status = (await session.store.runs())[0].status
    assert "gone" in told["error"]["message"]
    assert status == "cancelled"


async def test_who_was_not_told_where_to_come_back_to_ends_the_run_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{BOUNDS}.GRACE_SECONDS", 1e9)
    async with served(tmp_path) as (world, _), raw(world, "2025-06-18") as client:
        async with client.post("tools/call", **LATER):
            await world.began.wait()
        await world.ended.wait()


async def test_what_is_too_much_to_be_kept_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{BOUNDS}._MOST_BYTES", 10_000)
    async with served(tmp_path) as (world, _), raw(world) as client:
        world.text = "x" * 20_000
        where = await lost(client, world)
        world.answer.set()
        async with client.back(where) as events:
            told = json.loads([event async for event in events][-1][1])
    assert told["id"] == "tools/call"
    assert "no longer kept" in told["error"]["message"]


async def test_what_is_old_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(f"{BOUNDS}.EVENT_SECONDS", 0.0)
    async with served(tmp_path) as (world, _), raw(world) as client:
        where = await lost(client, world)
        world.answer.set()
        await world.ended.wait()
        with anyio.fail_after(30):
            told: dict[str, Any] = {}
            while "error" not in told:
                async with client.back(where) as events:
                    told = json.loads([event async for event in events][-1][1])
    assert "no longer kept" in told["error"]["message"]


async def test_of_many_streams_the_oldest_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{BOUNDS}._MOST_STREAMS", 4)
    async with served(tmp_path) as (world, _), raw(world) as client:
        names: list[str] = []
        for _ in range(6):
            async with client.post("tools/list") as events:
                names.append((await anext(events))[0])
                await anext(events)
        kept: list[bool] = []
        for name in names:
            async with client.back(name) as events:
                kept.append(bool([event async for event in events]))
    assert kept == [False, False, True, True, True, True]
