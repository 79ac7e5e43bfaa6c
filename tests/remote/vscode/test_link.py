"""The link between a window and its host: cut, ended, replaced; nothing is lost or done twice."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from anyio import to_thread

from lineshaft.remote.host import HostConversation
from lineshaft.remote.protocol import ActionEnd, ErrorObservation, RunAction, RunObservation
from remote.far import TOKEN, Near, near, python_window
from remote.vscode.editor import VsCode, vscode
from upstreams.addresses import free_port

SECONDS = 100


class Wire:
    """A way to a host that can be cut, and stays so for a time."""

    def __init__(self, port: int) -> None:
        self.port = port
        self._open = True
        self._pairs: set[asyncio.StreamWriter] = set()

    def cut(self) -> None:
        """End every connection, and let none in."""
        self._open = False
        for each in self._pairs:
            each.transport.abort()

    def mend(self) -> None:
        """Let connections in again."""
        self._open = True

    async def serve(self, place: socket.socket) -> None:
        """Pass on connections until it is cancelled."""
        server = await asyncio.start_server(self._pass, sock=place)
        async with server:
            await server.serve_forever()

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not self._open:
            writer.transport.abort()
            return
        try:
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.port)
        except OSError:
            writer.transport.abort()
            return
        pair = {writer, far_writer}
        self._pairs |= pair
        await asyncio.gather(_copy(reader, far_writer), _copy(far_reader, writer))
        self._pairs -= pair


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        writer.close()


@pytest.fixture(scope="module")
def ports() -> tuple[int, int]:
    """The port of the host, and that of the wire to it, through which the window comes."""
    return free_port(), free_port()


@pytest.fixture(scope="module")
def window(tmp_path_factory: pytest.TempPathFactory, ports: tuple[int, int]) -> Generator[VsCode]:
    home = tmp_path_factory.mktemp("link")
    file = home / "address.json"
    file.touch(mode=0o600)
    file.write_text(json.dumps({"url": f"http://127.0.0.1:{ports[1]}", "token": TOKEN}))
    with vscode(home, {"lineshaft.addressFile": str(file)}) as editor:
        yield editor


@asynccontextmanager
async def linked(
    window: VsCode, ports: tuple[int, int]
) -> AsyncGenerator[tuple[Near, Wire, HostConversation]]:
    """Serve a host which the window has joined."""
    wire = Wire(ports[0])
    with socket.create_server(("127.0.0.1", ports[1])) as place:
        async with near(port=ports[0]) as here:
            serving = asyncio.create_task(wire.serve(place))
            window.clear()
            yield here, wire, await joined(window, here)
            serving.cancel()
            wire.cut()


async def joined(window: VsCode, here: Near) -> HostConversation:
    """Wait for the window; one that had no host when it came is told to start."""
    found: HostConversation | None = None
    for look in range(SECONDS * 10):
        async with here.http() as client:
            listed = (await client.get("/api/conversations")).json()["results"]
        ids = [each["conversation_id"] for each in listed if each["window"]]
        if ids and (found := here.host.conversation(ids[0])) is not None:
            return found
        if look == 100:
            await to_thread.run_sync(partial(window.browser.command, "Lineshaft: Start"))
        await anyio.sleep(0.1)
    raise TimeoutError("the window did not join")


def begun(conversation: HostConversation, command: str) -> "asyncio.Task[ActionEnd]":
    return asyncio.create_task(conversation.perform(RunAction(command=command), seconds=SECONDS))


async def there(path: Path) -> None:
    with anyio.fail_after(SECONDS):
        while not path.exists():
            await anyio.sleep(0.05)


async def works(conversation: HostConversation) -> None:
    end = await begun(conversation, "echo next")
    assert isinstance(end.observation, RunObservation)
    assert end.observation.content == "next\n"
    assert conversation.pending == ()


async def test_an_answer_that_is_made_while_the_link_is_cut_arrives_and_ran_once(
    window: VsCode, ports: tuple[int, int]
) -> None:
    async with linked(window, ports) as (_, wire, conversation):
        act = begun(conversation, "touch began; sleep 1; echo x >> ran; echo done; touch ended")
        await there(window.root / "began")
        wire.cut()
        await there(window.root / "ended")
        assert not act.done()
        wire.mend()
        end = await act
        assert isinstance(end.observation, RunObservation)
        assert (end.observation.content, end.status) == ("done\n", "done")
        assert (window.root / "ran").read_text() == "x\n"
        await works(conversation)


async def test_a_command_goes_on_over_a_link_that_comes_back(
    window: VsCode, ports: tuple[int, int]
) -> None:
    async with linked(window, ports) as (_, wire, conversation):
        act = begun(
            conversation, "touch began; while [ ! -e go ]; do sleep 0.1; done; echo x >> ran"
        )
        await there(window.root / "began")
        wire.cut()
        wire.mend()
        with anyio.fail_after(SECONDS):
            while conversation.window is not None:
                await anyio.sleep(0.05)
            while conversation.window is None:
                await anyio.sleep(0.05)
        (window.root / "go").touch()
        assert (await act).status == "done"
        assert (window.root / "ran").read_text() == "x\n"
        await works(conversation)


async def test_a_window_joins_the_host_that_comes_after_one_that_ended(
    window: VsCode, ports: tuple[int, int]
) -> None:
    async with linked(window, ports) as (_, _, conversation):
        await works(conversation)
    async with linked(window, ports) as (_, _, after):
        assert after is not conversation
        await works(after)


async def test_a_command_ends_with_the_window_that_is_loaded_again(
    window: VsCode, ports: tuple[int, int]
) -> None:
    async with linked(window, ports) as (here, _, conversation):
        act = begun(conversation, "echo $$ > began; sleep 600; touch ended")
        await there(window.root / "began")
        await to_thread.run_sync(partial(window.browser, "reload"))
        end = await act
        assert end.status == "unknown"
        assert isinstance(end.observation, ErrorObservation)
        assert end.observation.error_id in {"E_CANCELLED", "E_UNKNOWN_STATE", "E_CONNECTION_LOST"}
        pid = int((window.root / "began").read_text())
        with anyio.fail_after(SECONDS):
            while Path(f"/proc/{pid}/cmdline").exists():
                await anyio.sleep(0.05)
        await works(await joined(window, here))
        assert not (window.root / "ended").exists()


async def test_a_window_comes_back_after_the_host_has_ended_its_connection(
    window: VsCode, ports: tuple[int, int]
) -> None:
    async with linked(window, ports) as (here, _, conversation):
        act = begun(
            conversation, "touch began; while [ ! -e go ]; do sleep 0.1; done; echo x >> ran"
        )
        await there(window.root / "began")
        assert conversation.window is not None
        same = {
            "conversation_id": conversation.id,
            "window": conversation.window.id,
            "protocol": 1,
            "latest_event_id": conversation.latest_event_id,
        }
        # The host ends the connection of a window that seems to come back by another one.
        async with python_window(here.url, same) as other:
            await other.next("connected")
            await other.next("disconnected")  # the real one came back in its turn
        (window.root / "go").touch()
        assert (await act).status == "done"
        assert (window.root / "ran").read_text() == "x\n"
        await works(conversation)
