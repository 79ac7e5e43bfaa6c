"""A front over this process's own standard streams: one JSON message a line.

While it serves, other output of this process or its children to standard output goes to standard
error: nothing but the protocol reaches the client. In place of the SDK's own, which waits for its
input in a thread that cannot be ended, and reads lines of any length.
"""

import os
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial

import anyio
import mcp_types as types
from anyio.abc import ObjectReceiveStream, ObjectSendStream
from anyio.streams.memory import MemoryObjectSendStream
from mcp.shared.message import ServerMessageMetadata, SessionMessage

from lineshaft.mcp.client import Cut, Lines
from lineshaft.mcp.front.front import Front
from lineshaft.mcp.front.server import FrontServer
from lineshaft.mcp.front.unreadable import Unreadable, message_in

MESSAGE_BYTES = 4 * 1024 * 1024
"""No message of a client may be longer, as over HTTP."""

_CHUNK = 65_536
_WAITING = 16
"""Messages that wait for a client that reads slowly; answers to what is no message are dropped
then: the reader, which hears of cancellations and of the client's end, waits for no writer."""

_LAST_SECONDS = 1.0
"""A client that has said its last word gets the answers that are ready, if it reads them."""

_SURE = 4_096
"""As much can be written to a pipe that has room, without waiting (`PIPE_BUF`)."""

Incoming = SessionMessage | Exception


class _UnderWay:
    """The ids of requests that are not answered yet.

    The SDK lets a second request with an id take the place of the first: a cancellation would reach
    one of them, and a client could not tell their answers apart.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()

    def take(self, message: types.JSONRPCMessage) -> SessionMessage | types.JSONRPCError:
        """Return a message as the SDK is given it, or the refusal of a request.

        The refusal has no id: it is the first request's, and would pass for its answer.
        """
        if not isinstance(message, types.JSONRPCRequest):
            return SessionMessage(message)
        if str(message.id) in self._ids:
            text = f"a request with the id {message.id!r} is under way"
            error = types.ErrorData(code=types.INVALID_REQUEST, message=text)
            return types.JSONRPCError(jsonrpc="2.0", id=None, error=error)
        self._ids.add(str(message.id))
        over = partial(self._unanswered, message.id)
        return SessionMessage(message, ServerMessageMetadata(on_request_unanswered=over))

    async def _unanswered(self, request: types.RequestId) -> None:
        self._ids.discard(str(request))

    def answered(self, message: types.JSONRPCMessage) -> None:
        """Note that a message is sent, which may be the answer to a request."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._ids.discard(str(message.id))


async def serve_stdio(front: Front) -> None:
    """Serve the client on this process's standard streams until it closes them.

    Servers whose start was put off start once the client's first message is answered.

    Args:
        front: What is served; its session is entered.
    """
    server = FrontServer(front)
    with _streams() as (read, write):
        async with server.opened(), _wire(read, write, front.begin) as (incoming, outgoing):
            await server.run(incoming, outgoing, server.create_initialization_options())


@contextmanager
def _streams() -> Generator[tuple[int, int]]:
    """Take standard input and output for the protocol alone, as long as the block lasts."""
    read, write = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    try:
        os.dup2(nothing, 0)
        os.dup2(2, 1)
        yield read, write
    finally:
        os.dup2(read, 0)
        os.dup2(write, 1)
        for number in (read, write, nothing):
            os.close(number)


@asynccontextmanager
async def _wire(
    read: int, write: int, answered: Callable[[], None]
) -> AsyncGenerator[tuple[ObjectReceiveStream[Incoming], ObjectSendStream[SessionMessage]]]:
    inward, to_read = anyio.create_memory_object_stream[Incoming](0)
    to_write, outward = anyio.create_memory_object_stream[SessionMessage](_WAITING)
    reading, written, under_way = anyio.CancelScope(), anyio.Event(), _UnderWay()

    async def answer() -> None:
        try:
            await _write(write, outward, answered, under_way)
            reading.cancel()  # a client that reads no more has gone
        finally:
            written.set()

    async with anyio.create_task_group() as group:
        group.start_soon(_read, read, inward, to_write, reading, under_way)
        group.start_soon(answer)
        try:
            yield to_read, to_write
        finally:
            for stream in (to_read, to_write, inward):
                stream.close()
            with anyio.move_on_after(_LAST_SECONDS, shield=True):
                await written.wait()
            group.cancel_scope.cancel()
            outward.close()


async def _read(
    source: int,
    inward: ObjectSendStream[Incoming],
    outward: MemoryObjectSendStream[SessionMessage],
    scope: anyio.CancelScope,
    under_way: _UnderWay,
) -> None:
    lines = Lines(MESSAGE_BYTES)
    with scope, suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with inward:
            while data := await _next(source):
                for line in lines.add(data):
                    message = _message(line)
                    if isinstance(message, Unreadable) and message.is_answer:
                        if message.has_id:
                            await inward.send(SessionMessage(message.error))
                        continue
                    taken = _taken(message, under_way)
                    if isinstance(taken, SessionMessage):
                        await inward.send(taken)
                    elif taken is not None:
                        with suppress(anyio.WouldBlock):
                            outward.send_nowait(SessionMessage(taken))


def _taken(
    message: types.JSONRPCMessage | Unreadable | None, under_way: _UnderWay
) -> SessionMessage | types.JSONRPCError | None:
    if message is None or isinstance(message, Unreadable):
        return None if message is None else message.error
    return under_way.take(message)


async def _next(source: int) -> bytes:
    with suppress(OSError):  # of a file: it is always readable
        await anyio.wait_readable(source)
    try:
        return os.read(source, _CHUNK)
    except OSError:
        return b""


def _message(line: bytes | Cut) -> types.JSONRPCMessage | Unreadable | None:
    """Return what a line says; None where it is blank."""
    if not isinstance(line, Cut):
        line = line.removeprefix(BOM_UTF8)
        if not line.strip():
            return None
    return message_in(line, MESSAGE_BYTES, place="line")


async def _write(
    target: int,
    outward: ObjectReceiveStream[SessionMessage],
    answered: Callable[[], None],
    under_way: _UnderWay,
) -> None:
    async for item in outward:
        under_way.answered(item.message)
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await _send(target, text.encode() + b"\n")
        except OSError:
            return
        if not isinstance(item.message, types.JSONRPCError):
            answered()


async def _send(target: int, data: bytes) -> None:
    at = 0
    while at < len(data):
        with suppress(PermissionError):  # of a file: it is always writable
            await anyio.wait_writable(target)
        at += os.write(target, data[at : at + _SURE])
