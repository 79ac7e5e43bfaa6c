"""Resources of a server behind a front that clients watch: each hears of its own alone."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import httpx2
import mcp_types as types
import pytest
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import ResourcesListChanged, ResourceUpdated, Subscription

from fronts import MODES, OPEN, Mode, client_of, text_of
from lineshaft import Session
from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.front import Front, HttpOptions, front_server, serve_http
from passed import ERAS, passed, watch
from upstreams.library import Library
from upstreams.real import python_server

TOKEN = "a-token-that-is-long-enough"  # noqa: S105  of these tests alone


async def leave(client: Client, uri: str) -> None:
    """Watch it no longer."""
    request = types.UnsubscribeRequest(params=types.UnsubscribeRequestParams(uri=uri))
    await client.session.send_request(request, types.EmptyResult)


async def until(condition: Callable[[], object]) -> None:
    with anyio.fail_after(30):
        while not condition():
            await anyio.lowlevel.checkpoint()


def told(heard: list[object]) -> list[str]:
    """Return which resources a client was told of."""
    kind = types.ResourceUpdatedNotification
    return [each.params.uri for each in heard if isinstance(each, kind)]


async def next_of(events: Subscription) -> str:
    """Return the next resource that a client is told of."""
    with anyio.fail_after(30):
        event = await anext(aiter(events))
    assert isinstance(event, ResourceUpdated)
    return event.uri


def is_watched(library: Library, uri: str) -> bool:
    """Return whether the server was asked to watch a resource and not to stop."""
    asked = [what for what, which in library.watched if which == uri]
    return bool(library.listeners) or (bool(asked) and asked[-1] == "watch")


@pytest.mark.parametrize("older", ERAS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("watchable", [True, False])
async def test_that_resources_can_be_watched_is_said_where_the_server_says_it(
    mode: Mode, older: bool, watchable: bool, tmp_path: Path
) -> None:
    library = Library(older=older, watchable=watchable)
    async with (
        passed(library, tmp_path) as (_, client_with),
        client_with(mode=mode) as client,
    ):
        held = client.server_capabilities.resources
        assert held is not None
        assert held.subscribe is watchable
        if mode == "legacy" and not watchable:
            with pytest.raises(MCPError, match="does not say"):
                await watch(client, "book://a")
        if mode == "auto" and not watchable:
            async with client.listen(resource_subscriptions=["book://a"]) as events:
                assert not events.honored.resource_subscriptions
    assert library.watched == []


@pytest.mark.parametrize("older", ERAS)
async def test_each_client_is_told_of_what_it_watches_alone(older: bool, tmp_path: Path) -> None:
    library = Library(older=older)
    first, second = list[object](), list[object]()
    async with (
        passed(library, tmp_path) as (session, _),
        front_server(Front(session, passed="lib")) as server,
    ):
        one = Client(server, mode="legacy", message_handler=_into(first))
        two = Client(server, mode="legacy", message_handler=_into(second))
        async with one, two, Client(server) as three, Client(server) as four:
            await watch(one, "book://a")
            await watch(two, "book://b")
            async with (
                three.listen(resource_subscriptions=["book://a"]) as third,
                four.listen(resource_subscriptions=["book://b", "secret://plan"]) as fourth,
            ):
                await library.change("book://a")
                assert await next_of(third) == "book://a"
                await until(lambda: told(first))
                await library.change("secret://plan")
                assert await next_of(fourth) == "secret://plan"
            await leave(one, "book://a")
            await library.change("book://a")
            await library.change("book://b")
            await until(lambda: told(second))
    assert (told(first), told(second)) == (["book://a"], ["book://b"])


@pytest.mark.parametrize("older", ERAS)
async def test_clients_are_told_that_there_are_other_resources(older: bool, tmp_path: Path) -> None:
    library, heard = Library(older=older), list[object]()
    async with (
        passed(library, tmp_path) as (session, _),
        front_server(Front(session, passed="lib")) as server,
    ):
        one = Client(server, mode="legacy", message_handler=_into(heard))
        async with one, Client(server) as two:
            for client in (one, two):
                held = client.server_capabilities.resources
                assert held is not None
                assert held.list_changed is True
                assert "book://c" not in [
                    each.uri for each in (await client.list_resources()).resources
                ]
            async with two.listen(resources_list_changed=True) as events:
                await library.add("book://c", "gamma")
                with anyio.fail_after(30):
                    assert isinstance(await anext(aiter(events)), ResourcesListChanged)
            await until(lambda: heard)
            assert isinstance(heard[0], types.ResourceListChangedNotification)
            for client in (one, two):
                assert "book://c" in [
                    each.uri for each in (await client.list_resources()).resources
                ]


def _into(heard: list[object]) -> Any:
    async def hear(message: object) -> None:
        heard.append(message)

    return hear


@pytest.mark.parametrize("older", ERAS)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", ["leaves", "goes"])
async def test_the_server_watches_nothing_once_the_last_has_gone(
    how: str, mode: Mode, older: bool, tmp_path: Path
) -> None:
    library = Library(older=older)
    async with (
        passed(library, tmp_path) as (session, _),
        front_server(Front(session, passed="lib")) as server,
    ):
        async with Client(server, mode="legacy") as last:
            async with Client(server, mode=mode) as client:
                await watch(last, "book://a")
                if mode == "legacy":
                    await watch(client, "book://a")
                    await watch(client, "book://a")
                    if how == "leaves":
                        await leave(client, "book://a")
                else:
                    async with client.listen(resource_subscriptions=["book://a"]):
                        await client.list_tools()
                assert is_watched(library, "book://a")
            assert is_watched(library, "book://a")
            if how == "leaves":
                await leave(last, "book://a")
                await leave(last, "book://a")
                await leave(last, "book://never")
        await until(lambda: not is_watched(library, "book://a"))
    assert len(library.watched) == (2 if older else 0)


@pytest.mark.parametrize("older", ERAS)
@pytest.mark.parametrize("mode", MODES)
async def test_what_is_watched_is_told_over_http_until_the_client_goes(
    mode: Mode, older: bool, tmp_path: Path
) -> None:
    library, heard, up = Library(older=older), list[object](), list[str]()
    headers = {"Authorization": f"Bearer {TOKEN}"}
    async with (
        passed(library, tmp_path) as (session, _),
        anyio.create_task_group() as group,
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
    ):
        options = HttpOptions(port=0, token=TOKEN)
        front = Front(session, passed="lib")
        group.start_soon(partial(serve_http, front, options, ready=up.append))
        await until(lambda: up)
        transport = streamable_http_client(up[0], http_client=http)
        async with Client(transport, mode=mode, message_handler=_into(heard)) as client:
            if mode == "legacy":
                await watch(client, "book://a")
                with anyio.fail_after(30):
                    while not told(heard):  # it opens the stream for that when it likes
                        await library.change("book://a")
                        await anyio.lowlevel.checkpoint()
            else:
                async with client.listen(resource_subscriptions=["book://a"]) as events:
                    await library.change("book://a")
                    assert await next_of(events) == "book://a"
        await until(lambda: not is_watched(library, "book://a"))
        group.cancel_scope.cancel()


@pytest.mark.parametrize("older", ERAS)
async def test_what_the_server_refuses_to_watch_is_refused(older: bool, tmp_path: Path) -> None:
    library = Library(older=older)
    async with passed(library, tmp_path) as (_, client_with):
        async with client_with(mode="legacy") as client:
            for _ in range(2):
                with pytest.raises(MCPError, match="locked") as caught:
                    await watch(client, "locked://x")
                assert caught.value.error.code == types.INVALID_PARAMS
        async with (
            client_with() as client,
            client.listen(resource_subscriptions=["locked://x", "book://a"]) as events,
        ):
            assert events.honored.resource_subscriptions == ["book://a"]


@pytest.mark.parametrize("older", ERAS)
async def test_a_client_may_watch_so_many(older: bool, tmp_path: Path) -> None:
    library = Library(older=older)
    uris = [f"book://{number}" for number in range(70)]
    async with passed(library, tmp_path) as (_, client_with):
        async with client_with(mode="legacy") as client:
            for uri in uris[:64]:
                await watch(client, uri)
            await until(lambda: library.listeners == (0 if older else 1))
            for uri in (uris[64], f"book://{'x' * 3_000}"):
                with pytest.raises(MCPError, match="may watch 64"):
                    await watch(client, uri)
            await watch(client, uris[1])  # again: that is none more
            await leave(client, uris[0])
            await watch(client, uris[64])
        async with client_with() as client, client.listen(resource_subscriptions=uris) as events:
            assert events.honored.resource_subscriptions == uris[:64]


async def test_all_clients_may_watch_so_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.mcp.front.watchers._MOST", 2)
    async with (
        passed(Library(), tmp_path) as (_, client_with),
        client_with(mode="legacy") as client,
    ):
        await watch(client, "book://a")
        await watch(client, "book://b")
        with pytest.raises(MCPError, match="already"):
            await watch(client, "secret://plan")


async def test_what_changes_below_a_resource_is_its_change(tmp_path: Path) -> None:
    library, heard = Library(older=True), list[object]()
    async with (
        passed(library, tmp_path) as (_, client_with),
        client_with(mode="legacy", heard=heard) as client,
    ):
        await watch(client, "book://a")
        for uri in ("book://ab", "book://b", "secret://plan", "book://a/page/1"):
            await library.tell(uri)
        await until(lambda: told(heard))
        await library.tell("book://a")
        await until(lambda: len(told(heard)) == 2)
    assert told(heard) == ["book://a", "book://a"]


@pytest.mark.long
@pytest.mark.parametrize("mode", MODES)
async def test_a_server_that_died_is_started_again_for_those_who_watch(
    mode: Mode, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.mcp.front.watchers._SHORTEST_PAUSE", 0.01)
    heard = list[object]()
    upstream = mcp_server(python_server("library"), name="lib", trust=True)
    async with (
        Session(upstream, workspace=tmp_path, policy=OPEN, store=False) as session,
        client_of(session, mode=mode, passed="lib", heard=heard) as client,
    ):
        if mode == "legacy":
            await watch(client, "book://a")
            assert "E_TOOL_FAILED" in text_of(await client.call_tool("die", {}))
            await until(lambda: told(heard) == ["book://a"])
        else:
            async with client.listen(resource_subscriptions=["book://a"]) as events:
                await client.call_tool("die", {})
                assert await next_of(events) == "book://a"


async def test_a_client_that_comes_while_the_server_is_lost_is_told_what_it_had(
    tmp_path: Path,
) -> None:
    upstream = mcp_server(python_server("library", str(tmp_path / "grave")), name="lib", trust=True)
    async with (
        Session(upstream, workspace=tmp_path, policy=OPEN, store=False) as session,
        front_server(Front(session, passed="lib")) as server,
    ):
        async with Client(server) as client:
            assert "E_TOOL_FAILED" in text_of(await client.call_tool("die", {}))
        for mode in MODES:
            async with Client(server, mode=mode) as client:
                held = client.server_capabilities.resources
                assert held is not None
                assert held.subscribe is True
                with pytest.raises(MCPError, match="is not there"):
                    await client.list_resources()


async def test_a_client_that_goes_while_the_server_is_lost_holds_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    upstream = mcp_server(python_server("library", str(tmp_path / "grave")), name="lib", trust=True)
    async with (
        Session(upstream, workspace=tmp_path, policy=OPEN, store=False) as session,
        front_server(Front(session, passed="lib")) as server,
        Client(server, mode="legacy") as other,
    ):
        async with Client(server, mode="legacy") as client:
            for name in ("a", "b", "c"):
                await watch(client, f"book://{name}")
            assert "E_TOOL_FAILED" in text_of(await client.call_tool("die", {}))
            monkeypatch.setattr("lineshaft.mcp.front.watchers._MOST", 1)
            assert "already" in await _refusal(other, "book://d")
        with anyio.fail_after(30):
            while "already" in (said := await _refusal(other, "book://d")):
                await anyio.lowlevel.checkpoint()
    assert "is not there" in said


async def _refusal(client: Client, uri: str) -> str:
    """Return why a client may not watch a resource."""
    with pytest.raises(MCPError) as caught:
        await watch(client, uri)
    return str(caught.value)
