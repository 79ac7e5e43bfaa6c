"""A server that speaks HTTP as it is told to, and records what it was sent."""

import asyncio
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

KEY = "sk-very-secret-key"

Json = dict[str, Any]


@dataclass
class Sent:
    """One request as it arrived."""

    head: str
    body: Json


@dataclass
class Wire:
    """What was sent, and how to reach the server."""

    url: str = ""
    sent: list[Sent] = field(default_factory=list[Sent])
    closed: asyncio.Event = field(default_factory=asyncio.Event)
    """Set once a client has closed its connection before it had an answer."""

    most_at_once: int = 0


def answer(body: object, *, status: str = "200 OK", headers: str = "") -> bytes:
    """Return the bytes of an HTTP answer with JSON."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    head = f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\n{headers}"
    return f"{head}content-length: {len(data)}\r\n\r\n".encode() + data


def completion(**message: Any) -> Json:
    """Return a chat completion with one message."""
    finish = message.pop("finish_reason", "tool_calls" if "tool_calls" in message else "stop")
    usage = message.pop("usage", {"prompt_tokens": 100, "completion_tokens": 7})
    return {
        "model": "tiny-2026",
        "choices": [{"message": {"role": "assistant", **message}, "finish_reason": finish}],
        "usage": usage,
    }


def requested(name: str, arguments: object, *, id: str = "c1") -> Json:  # noqa: A002  its name there
    """Return a tool call as a provider writes it."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def stream(*chunks: object, done: bool = True) -> bytes:
    """Return the bytes of an answer in pieces."""
    lines = [": keep alive"]
    lines += [f"data: {json.dumps(chunk)}" for chunk in chunks]
    lines += ["data: [DONE]"] if done else []
    body = "".join(f"{line}\r\n\r\n" for line in lines)
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"
    return (head + body).encode()


def piece(finish: str | None = None, **delta: Any) -> Json:
    """Return one chunk of a stream."""
    return {"choices": [{"delta": delta, "finish_reason": finish}]}


@asynccontextmanager
async def serving(
    answers: Sequence[bytes | None], *, gate: asyncio.Event | None = None
) -> AsyncGenerator[Wire]:
    """Serve answers in order; None stands for no answer at all, until the client has gone.

    Args:
        answers: Raw bytes, one for each connection; the last one serves all further ones.
        gate: Answers wait for it.
    """
    wire, open_now = Wire(), 0

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal open_now
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            size = next(
                int(line.partition(":")[2])
                for line in head.splitlines()
                if line.lower().startswith("content-length")
            )
            wire.sent.append(Sent(head, json.loads(await reader.readexactly(size))))
            said = answers[min(len(wire.sent), len(answers)) - 1]
            open_now += 1
            wire.most_at_once = max(wire.most_at_once, open_now)
            if gate is not None:
                await gate.wait()
            if said is None:
                await reader.read()
                wire.closed.set()
            else:
                writer.write(said)
                await writer.drain()
            open_now -= 1
        except (ConnectionError, asyncio.IncompleteReadError):
            wire.closed.set()
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    wire.url = f"http://127.0.0.1:{port}/v1"
    async with server:
        yield wire
