"""Windows for tests: the real Socket.IO clients, in Node and in Python, driven alike."""

import asyncio
import importlib
import json
import subprocess
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from anyio.abc import ByteSendStream
from anyio.streams.text import TextReceiveStream

from lineshaft.remote.host import (
    EditorHost,
    HostAddress,
    HostConversation,
    published,
    serve_editors,
)
from remote.local import BeginAction, Executions, LocalRuntime, SendAnswer
from upstreams.real import node

TOKEN = "a-token-that-is-long-enough"  # noqa: S105  of these tests alone
EXTENSION = Path(__file__).parents[2] / "extensions" / "vscode"
SECONDS = 60


def packages() -> Path:
    """Return the folder of the extension's packages, or skip the test with what is missing."""
    found = EXTENSION / "node_modules"
    if not (found / "socket.io-client").is_dir():
        pytest.skip("needs the extension's npm packages: ./dev check installs them, where npm is")
    return found


@dataclass
class Far:
    """A window: what came to it, by kind, and what it sends."""

    send: Callable[[dict[str, Any]], Any]
    came: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    news: anyio.Event = field(default_factory=anyio.Event)

    def take(self, kind: str, data: object = None) -> None:
        """Note what came."""
        self.came.append({"kind": kind, "data": data})
        self.news.set()
        self.news = anyio.Event()

    async def next(self, kind: str) -> Any:
        """Return the data of the next of a kind; those before it are kept."""
        with anyio.fail_after(SECONDS):
            while True:
                for place, each in enumerate(self.came):
                    if each["kind"] == kind:
                        return self.came.pop(place)["data"]
                await self.news.wait()

    def none(self, kind: str) -> bool:
        """Return whether nothing of a kind waits."""
        return all(each["kind"] != kind for each in self.came)

    async def emit(self, event: str, data: object) -> Any:
        """Send an event, and return its acknowledgement."""
        await self.send({"act": "emit", "event": event, "data": data})
        return await self.next("ack")

    async def tell(self, event: str, data: object) -> None:
        """Send an event without an acknowledgement."""
        await self.send({"act": "tell", "event": event, "data": data})

    async def offer(self, *tools: dict[str, Any]) -> Any:
        """Announce tools, in place of those before."""
        return await self.emit("oh_tools", {"tools": list(tools)})

    async def answer(self, cause: object, observation: str = "write", **more: object) -> Any:
        """Answer an action."""
        said = {"content": "done", "extras": {"path": "a"}, **more}
        return await self.emit("oh_event", {"cause": cause, "observation": observation, **said})


@dataclass
class Near:
    """A host that runs, its address, and a conversation."""

    host: EditorHost
    url: str
    conversation: HostConversation

    def http(self, **headers: str) -> httpx2.AsyncClient:
        """Give a client that shows the token."""
        known = {"Authorization": f"Bearer {TOKEN}", **headers}
        return httpx2.AsyncClient(base_url=self.url, headers=known, timeout=SECONDS)


@asynccontextmanager
async def near(*, grace: float = 30, port: int = 0, **options: Any) -> AsyncGenerator[Near]:
    """Serve a host with one conversation as long as the block lasts.

    Args:
        grace: Of the host.
        port: 0: any that is free.
        options: Of the host, further ones.
    """
    up = anyio.Event()
    found: list[str] = []

    def ready(url: str) -> None:
        found.append(url)
        up.set()

    host = EditorHost(version="1.2.3", grace=grace, **options)
    async with anyio.create_task_group() as group:
        group.start_soon(lambda: serve_editors(host, token=TOKEN, port=port, ready=ready))
        with anyio.fail_after(SECONDS):
            await up.wait()
        yield Near(host, found[0], host.create())
        group.cancel_scope.cancel()


@asynccontextmanager
async def node_window(
    url: str, auth: Mapping[str, object], *, token: str = TOKEN
) -> AsyncGenerator[Far]:
    """Connect a window in a process of Node."""
    script = str(Path(__file__).with_name("far.mjs"))
    command = [node(), script, str(packages()), url, token, json.dumps(auth)]
    async with (
        await anyio.open_process(command, stderr=subprocess.DEVNULL) as process,
        anyio.create_task_group() as group,
    ):
        stdin: ByteSendStream | None = process.stdin
        assert stdin is not None
        assert process.stdout is not None
        lines = TextReceiveStream(process.stdout)

        async def send(order: dict[str, Any]) -> None:
            await stdin.send(f"{json.dumps(order)}\n".encode())

        far = Far(send)

        async def hear() -> None:
            rest = ""
            async for text in lines:
                *whole, rest = (rest + text).split("\n")
                for line in whole:
                    said = json.loads(line)
                    far.take(said["kind"], said.get("data"))

        group.start_soon(hear)
        try:
            yield far
        finally:
            process.kill()
            group.cancel_scope.cancel()


@asynccontextmanager
async def python_window(
    url: str, auth: Mapping[str, object], *, token: str = TOKEN
) -> AsyncGenerator[Far]:
    """Connect a window in this process."""
    library: Any = importlib.import_module("socketio")
    client = library.AsyncClient(reconnection=False)

    async def send(order: dict[str, Any]) -> None:
        if order["act"] == "end":
            await client.disconnect()
            return
        answered = order["act"] == "emit"
        said = partial(far.take, "ack") if answered else None
        await client.emit(order["event"], order["data"], callback=said)

    far = Far(send)

    def refused(said: Any) -> None:
        known = {"code": "http", "message": said} if isinstance(said, str) else said["data"] | said
        far.take("refused", known)

    def ended(*_: object) -> None:
        far.take("disconnected")

    for kind in ("oh_event", "oh_cancel"):
        client.on(kind, partial(far.take, kind))
    client.on("connect", lambda: far.take("connected"))
    client.on("disconnect", ended)
    client.on("connect_error", refused)
    headers = {"Authorization": f"Bearer {token}"}
    try:
        await client.connect(
            url, headers=headers, auth=dict(auth), transports=["websocket"], wait=False
        )
    except library.exceptions.ConnectionError:
        assert not far.none("refused")
    try:
        yield far
    finally:
        await client.disconnect()


WINDOWS = {"node": node_window, "python": python_window}


@asynccontextmanager
async def hosted(
    root: Path, *windows: str, kind: str = "python", grace: float = 30
) -> AsyncGenerator[tuple[Near, list[Far]]]:
    """Serve a host that is found, with a conversation for each window."""
    async with AsyncExitStack() as stack:
        here = await stack.enter_async_context(near(grace=grace))
        address = HostAddress(url=here.url, token=TOKEN, pid=1, root=str(root), version="1")
        stack.enter_context(published(address))
        joined: list[Far] = []
        for number, window in enumerate(windows):
            conversation = here.conversation if number == 0 else here.host.create()
            about = {"conversation_id": conversation.id, "window": window, "protocol": 1}
            far = await stack.enter_async_context(WINDOWS[kind](here.url, about))
            await far.next("connected")
            joined.append(far)
        yield here, joined


async def serve(far: Far, runtime: LocalRuntime) -> None:
    """Do what comes, several at once, and answer."""
    executions = Executions()

    async def act(told: BeginAction) -> None:
        done = await runtime.perform(told.event.action, seconds=told.event.timeout)
        await far.tell("oh_event", executions.answered(told.event.id, done))

    tasks: set[asyncio.Task[None]] = set()
    while True:
        told = executions.receive(await far.next("oh_event"))
        if isinstance(told, BeginAction):
            tasks.add(asyncio.create_task(act(told)))
        elif isinstance(told, SendAnswer):
            await far.tell("oh_event", told.frame)
