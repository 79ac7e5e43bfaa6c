"""Runs behind a server: what is heard of them, how they end, and how lists change."""

import gc
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import anyio
import mcp_types as types
import pytest
from mcp import Client
from mcp.server.connection import Connection
from mcp.shared.subscriptions import ToolsListChanged

from fronts import ASKS, MODES, Mode, client_of, data_of, served, text_of
from lineshaft import Context, Session, Tool, Toolset, tool
from lineshaft.mcp.front import Front, front_server


@tool(effect="read")
async def steps(count: int, context: Context) -> int:
    """Take some steps."""
    for number in range(1, count + 1):
        context.progress(number, count, f"step {number}")
    context.log("all taken")
    return count


class Endless:
    """A tool that goes on until it is ended."""

    def __init__(self) -> None:
        self.began = anyio.Event()
        self.ended = anyio.Event()

    async def wait(self) -> str:
        """Wait for ever."""
        self.began.set()
        try:
            await anyio.sleep_forever()
        finally:
            self.ended.set()
        return ""

    @property
    def tool(self) -> Tool:
        """Itself, as a tool."""
        return Tool.from_function(self.wait, name="wait", effect="read")


Heard = list[tuple[float, float | None, str | None]]


def listener(heard: Heard) -> Callable[[float, float | None, str | None], object]:
    async def hear(progress: float, total: float | None, message: str | None) -> None:
        heard.append((progress, total, message))

    return hear


@pytest.mark.parametrize("mode", MODES)
async def test_progress_and_logs_go_out_while_a_script_runs(mode: Mode, tmp_path: Path) -> None:
    heard: Heard = []
    notices: list[object] = []
    async with served([steps], at=tmp_path, mode=mode, heard=notices) as (client, _):
        ran = await client.call_tool(
            "run",
            {"code": "return [await steps(count=2), await steps(count=1)]"},
            progress_callback=listener(heard),  # pyright: ignore[reportArgumentType]  any awaitable
        )
    assert data_of(ran)["value"] == [2, 1]
    texts = [text or "" for _, _, text in heard]
    assert texts == [
        "call 1: steps",
        "steps 1/2 step 1",
        "steps 2/2 step 2",
        "call 2: steps",
        "steps 1/1 step 1",
    ]
    assert [number for number, _, _ in heard] == sorted({number for number, _, _ in heard})
    logs = [n for n in notices if isinstance(n, types.LoggingMessageNotificationParams)]
    assert [each.data for each in logs] == ["all taken", "all taken"]


@pytest.mark.parametrize("mode", MODES)
async def test_progress_of_a_direct_call_is_the_tools_own(mode: Mode, tmp_path: Path) -> None:
    heard: Heard = []
    async with served([steps], at=tmp_path, mode=mode, direct=["steps"]) as (client, _):
        await client.call_tool("steps", {"count": 2}, progress_callback=listener(heard))  # pyright: ignore[reportArgumentType]  as above
    assert heard == [(1, 2, "step 1"), (2, 2, "step 2")]


@pytest.mark.parametrize("mode", MODES)
async def test_progress_that_a_client_hears_only_increases(mode: Mode, tmp_path: Path) -> None:
    @tool(effect="read")
    async def wavers(context: Context) -> None:
        """Go on, back, and on."""
        for done, text in ((1, "on"), (0, "back"), (1, "again"), (7, "end")):
            context.progress(done, None, text)

    heard: Heard = []
    async with served([wavers], at=tmp_path, mode=mode, direct=["wavers"]) as (client, _):
        await client.call_tool("wavers", {}, progress_callback=listener(heard))  # pyright: ignore[reportArgumentType]  as above
    assert heard == [(1, None, "on"), (7, None, "end")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", ["run", "wait"])
async def test_a_client_that_cancels_ends_the_run(mode: Mode, name: str, tmp_path: Path) -> None:
    endless = Endless()
    arguments = {"code": "return await wait()"} if name == "run" else {}
    async with served([endless.tool], at=tmp_path, mode=mode, direct=["wait"]) as (
        client,
        session,
    ):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, name, arguments)
            await endless.began.wait()
            group.cancel_scope.cancel()
        with anyio.fail_after(10):
            await endless.ended.wait()
        other = await client.call_tool("run", {"code": "return 1"})
        assert data_of(other)["value"] == 1
        await _ended_as("cancelled", "call wait" if name == "wait" else "script.py", session)


async def _ended_as(status: str, name: str, session: Session) -> None:
    """Wait until the oldest run of that name has ended, and look how."""
    assert session.store is not None
    found = "running"
    with anyio.fail_after(10):
        while found == "running":
            runs = [each for each in await session.store.runs() if each.name == name]
            found = runs[-1].status
    assert found == status


@pytest.mark.parametrize("mode", MODES)
async def test_a_run_in_the_background_goes_on_and_is_looked_at(mode: Mode, tmp_path: Path) -> None:
    go_on, began = anyio.Event(), anyio.Event()

    @tool(effect="read")
    async def later() -> str:
        """Answer later."""
        began.set()
        await go_on.wait()
        return "done"

    async with served([later], at=tmp_path, mode=mode) as (client, _):
        code = "return await later()"
        ran = await client.call_tool("run", {"code": code, "background": True})
        assert data_of(ran)["status"] == "running"
        run_id = data_of(ran)["run_id"]
        await began.wait()
        looked = await client.call_tool("status", {"run_id": run_id})
        assert (data_of(looked)["status"], data_of(looked)["calls"]) == ("running", 1)
        go_on.set()
        done = await client.call_tool("resume", {"run_id": run_id})
        again = await client.call_tool("status", {"run_id": run_id})
    assert data_of(done)["value"] == "done"
    assert data_of(again)["value"] == "done"


@pytest.mark.parametrize("mode", MODES)
async def test_who_waits_for_a_run_in_the_background_does_not_end_it(
    mode: Mode, tmp_path: Path
) -> None:
    go_on = anyio.Event()

    @tool(effect="read")
    async def later() -> str:
        """Answer later."""
        await go_on.wait()
        return "done"

    async with served([later], at=tmp_path, mode=mode) as (client, _):
        arguments = {"code": "return await later()", "background": True}
        ran = await client.call_tool("run", arguments)
        run_id = data_of(ran)["run_id"]
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "resume", {"run_id": run_id})
            await client.call_tool("status", {"run_id": run_id})
            group.cancel_scope.cancel()
        go_on.set()
        done = await client.call_tool("resume", {"run_id": run_id})
    assert data_of(done)["value"] == "done"


async def test_what_is_under_way_when_a_server_ends_is_ended_and_recorded(tmp_path: Path) -> None:
    endless = Endless()
    async with Session([endless.tool], workspace=tmp_path, store=tmp_path / "s.db") as session:
        async with client_of(session) as client:
            arguments = {"code": "return await wait()", "background": True}
            ran = await client.call_tool("run", arguments)
            await endless.began.wait()
        assert endless.ended.is_set()
        async with client_of(session) as client:
            looked = await client.call_tool("status", {"run_id": data_of(ran)["run_id"]})
    assert data_of(looked)["status"] == "cancelled"


async def test_a_run_whose_server_died_is_interrupted(tmp_path: Path) -> None:
    async with served([], at=tmp_path) as (client, _):
        unknown = await client.call_tool("status", {"run_id": "20990101-000000-00000000"})
    assert "E_UNKNOWN_RUN" in text_of(unknown)


async def test_a_background_run_that_must_be_approved_pauses(tmp_path: Path) -> None:
    @tool(effect="external")
    async def put(what: str) -> str:
        """Put something somewhere."""
        return what

    async with served([put], at=tmp_path, policy=ASKS) as (client, _):
        arguments = {"code": "return await put(what='x')", "background": True}
        ran = await client.call_tool("run", arguments)
        waits = await client.call_tool("resume", {"run_id": data_of(ran)["run_id"]})
    assert data_of(waits)["status"] == "paused"


class Place:
    """A source that a test moves by hand."""

    name = "shop"
    problem = ""

    def __init__(self) -> None:
        self.tools = Toolset()
        self.is_there = anyio.Event()
        self._changed: Callable[[], None] = lambda: None

    def offer(self, *names: str) -> None:
        """Have these tools from now on."""

        async def act() -> str:
            """Act."""
            return "acted"

        made = [Tool.from_function(act, name=f"shop.{name}", effect="read") for name in names]
        self.tools = Toolset(made)
        self.is_there.set()
        self._changed()

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Be open."""
        self._changed = changed
        yield

    async def ready(self) -> None:
        """Wait for the first tools."""
        await self.is_there.wait()


async def _names(client: Client) -> list[str]:
    listed = await client.list_tools()
    return [each.name for each in listed.tools if "shop" in each.name]


async def test_a_client_that_has_left_is_not_kept(tmp_path: Path) -> None:
    """Each has its connection, and would be told of changes for ever."""
    before = {id(each) for each in _connections()}
    async with (
        Session([steps], workspace=tmp_path, store=False) as session,
        front_server(Front(session)) as server,
    ):
        for _ in range(3):
            async with Client(server, mode="legacy") as client:
                await client.list_tools()
        kept = [each for each in _connections() if id(each) not in before]
    assert kept == []


def _connections() -> list[object]:
    gc.collect()
    return [each for each in gc.get_objects() if type(each) is Connection]


async def test_an_older_client_is_told_of_new_tools(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineshaft.mcp.front.front._PATIENCE_SECONDS", 0.0)
    place, heard = Place(), cast("list[object]", [])
    async with (
        Session([place], workspace=tmp_path, store=False) as session,
        client_of(session, mode="legacy", heard=heard, direct=["shop.*"]) as client,
    ):
        assert await _names(client) == []
        assert client.server_capabilities.tools is not None
        assert client.server_capabilities.tools.list_changed
        place.offer("sell")
        with anyio.fail_after(10):
            while not any(isinstance(n, types.ToolListChangedNotification) for n in heard):
                await anyio.lowlevel.checkpoint()
        assert await _names(client) == ["shop__sell"]


async def test_a_newer_client_hears_of_new_tools_where_it_listens(tmp_path: Path) -> None:
    place = Place()
    async with (
        Session([place], workspace=tmp_path, store=False) as session,
        client_of(session, direct=["shop.*"]) as client,
        client.listen(tools_list_changed=True) as events,
    ):
        place.offer("sell")
        with anyio.fail_after(10):
            event = await anext(aiter(events))
        assert isinstance(event, ToolsListChanged)
        assert await _names(client) == ["shop__sell"]


@pytest.mark.parametrize("mode", MODES)
async def test_of_a_server_that_is_not_there_yet_the_last_count_is_told(
    mode: Mode, tmp_path: Path
) -> None:
    place = Place()
    async with (
        Session([place], workspace=tmp_path, store=False) as session,
        front_server(Front(session, known=lambda: {"shop": 7, "gone": 3})) as server,
        Client(server, mode=mode) as client,
    ):
        assert "shop (7)" in (client.instructions or "")
        assert "gone" not in (client.instructions or "")


@pytest.mark.parametrize("mode", MODES)
async def test_the_first_listing_does_not_wait_for_slow_servers(mode: Mode, tmp_path: Path) -> None:
    place = Place()
    async with (
        Session([place], workspace=tmp_path, store=False) as session,
        client_of(session, mode=mode, direct=["shop.*"]) as client,
    ):
        listed = await client.list_tools()
        ran = await client.call_tool("run", {"code": "return 1"})
        assert "shop (connecting)" in (client.instructions or "")
        assert len(listed.tools) == 5
        assert data_of(ran)["value"] == 1
        called: list[str] = []
        async with anyio.create_task_group() as group:  # what needs it waits for it

            async def call() -> None:
                called.append(text_of(await client.call_tool("shop__sell", {})))

            group.start_soon(call)
            await anyio.lowlevel.checkpoint()
            place.offer("sell")
        assert called == ["acted"]
