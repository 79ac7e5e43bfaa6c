"""The wire of a server that is a program: one JSON message a line, on its standard streams.

Above: `client/connection.py`. Below: `processes.piped`, which ends the whole tree with the block.
In place of the SDK's own, which leaves the tree of a server that has ended, and reads lines of any
length; on Windows there is only that one.
"""

import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.message import SessionMessage

from lineshaft.mcp._spec import ServerSpec
from lineshaft.mcp.client.background import background
from lineshaft.mcp.client.surrogates import without_halves
from lineshaft.mcp.client.wire import TOO_LARGE, Pace, Wire
from lineshaft.processes import Piped, minimal_environment, piped

EDGE = 4_096
"""Bytes that are kept of each end of a line that is too long."""

_STDERR_BYTES = 40_000
"""Of the end of its other output: far more than is shown, so that no secret is cut in two."""

_ID = r'"id"\s*:\s*(?:(?P<number>-?\d{1,18})(?![\d.eE])|"(?P<text>[^"\\]{1,200})")'
_ID_FIRST = re.compile(r'^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _ID)
_ID_LAST = re.compile(_ID + r'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$')

Incoming = SessionMessage | Exception
Streams = tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]


@asynccontextmanager
async def stdio(spec: ServerSpec, wire: Wire) -> AsyncGenerator[Streams]:
    """Start a server and speak with it as long as the block lasts.

    Args:
        spec: Its command.
        wire: Told of its process, and when it has ended.

    Raises:
        WorkspaceError: It could not be started.
    """
    cwd = spec.cwd or Path.cwd()
    if sys.platform == "win32":
        async with _of_the_sdk(spec, cwd) as streams:
            yield streams
        return
    async with piped(spec.command, cwd=cwd, env=spec.env, stderr_bytes=_STDERR_BYTES) as process:
        wire.process = process
        inward, to_read = anyio.create_memory_object_stream[Incoming](0)
        to_write, outward = anyio.create_memory_object_stream[SessionMessage](0)
        async with background() as tasks:
            tasks.start_soon(_read, process, inward, spec.message_bytes, wire)
            tasks.start_soon(_write, process, outward)
            try:
                yield to_read, to_write
            finally:
                for stream in (to_read, to_write, inward, outward):
                    stream.close()


@asynccontextmanager
async def _of_the_sdk(spec: ServerSpec, cwd: Path) -> AsyncGenerator[Any]:
    """Do the same where there is no supervisor: the SDK ends the tree by a job of the system."""
    command, *arguments = spec.command
    env = minimal_environment(spec.env)
    params = StdioServerParameters(command=command, args=arguments, env=env, cwd=cwd)
    with Path(os.devnull).open("w") as nowhere:  # noqa: ASYNC230  it never waits
        async with stdio_client(params, errlog=nowhere) as streams:
            yield streams


async def _read(
    process: Piped, inward: MemoryObjectSendStream[Incoming], most_bytes: int, wire: Wire
) -> None:
    lines, pace, spoke = Lines(most_bytes), Pace(), False
    try:
        while data := await process.receive():
            for line in lines.add(data):
                message = _message(line, most_bytes)
                if message is None:
                    wire.stray = wire.stray or ("" if spoke else _beginning(line))
                    await pace.keep()
                else:
                    wire.stray, spoke = "", True
                    await inward.send(message)
        await process.ended()
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return  # the session is over
    finally:
        wire.gone.set()
        with anyio.CancelScope(shield=True):
            await inward.aclose()


async def _write(process: Piped, outward: MemoryObjectReceiveStream[SessionMessage]) -> None:
    async for item in outward:
        text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
        try:
            await process.send(text.encode() + b"\n")
        except OSError:
            return  # it reads no more; its end is seen by the reader


class Cut:
    """A line that was too long to keep: its two ends."""

    def __init__(self, head: bytes, tail: bytes) -> None:
        self.head = head
        self.tail = tail


class Lines:
    """Lines out of pieces of bytes.

    Args:
        most_bytes: Of a longer line only the ends are kept.
    """

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._parts: list[bytes] = []
        self._size = 0

    def add(self, data: bytes) -> Iterator[bytes | Cut]:
        """Return the lines that end in the next piece."""
        *ends, rest = data.split(b"\n")
        for end in ends:
            self._keep(end)
            yield self._line()
        self._keep(rest)

    def _keep(self, data: bytes) -> None:
        self._size += len(data)
        self._parts.append(data)
        if self._size > self._most_bytes:
            whole = b"".join(self._parts)
            self._parts = [whole[:EDGE], whole[EDGE:][-EDGE:]]

    def _line(self) -> bytes | Cut:
        line = b"".join(self._parts)
        cut = self._size > self._most_bytes
        self._parts, self._size = [], 0
        return Cut(line[:EDGE], line[-EDGE:]) if cut else line


def _message(line: bytes | Cut, most_bytes: int) -> SessionMessage | None:
    """Return what a line says; None where it is no message, such as a log line on stdout."""
    if isinstance(line, Cut):
        text = f"{TOO_LARGE}: it sent a message of more than {most_bytes:,} bytes"
        return _failed(line.head, line.tail, text)
    if not line.strip():
        return None
    try:
        text = without_halves(line.removeprefix(BOM_UTF8))
        found = types.jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError:
        return _failed(line[:EDGE], line[-EDGE:], "it sent a message that is not valid JSON-RPC")
    return SessionMessage(found)


def _beginning(line: bytes | Cut) -> str:
    """Return the beginning of a line that is no message."""
    return (line.head if isinstance(line, Cut) else line[:EDGE]).decode(errors="replace").strip()


def _failed(head: bytes, tail: bytes, text: str) -> SessionMessage | None:
    """Return an error for the call that a message was meant for, as far as it can be told."""
    request = id_between(head, tail)
    if request is None:
        return None
    error = types.ErrorData(code=types.PARSE_ERROR, message=text)
    return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=request, error=error))


def id_between(head: bytes, tail: bytes) -> int | str | None:
    """Return the id of a message that cannot be read, where it comes first or last in it.

    Args:
        head: How the message begins.
        tail: How it ends.
    """
    found = _ID_FIRST.search(head.decode("utf-8", "replace"))
    found = found or _ID_LAST.search(tail.decode("utf-8", "replace"))
    if found is None:
        return None
    return int(found["number"]) if found["number"] else str(found["text"])
