"""What a host and an engine in a process of its own say to each other: bytes in, events out.

Above: `_run.py` in the host, `_inside/_channel.py` in the engine's process. Below: nothing, this
file does no I/O. Both sides have the same copy, so it uses the standard library alone. What is
said when, and why, stands in `docs/engine-protocol.md`.

A frame is four bytes with the length of what follows, most significant first, and a JSON object
in UTF-8. The host trusts no byte that comes from an engine: whatever is wrong with it becomes an
event (`Refused`, `Broken`), never an exception.
"""

import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, cast

VERSION = 1
"""Of the protocol; said in the first frame."""

TO_HOST = 8_000_000
"""Bytes of a frame from an engine at most: JSON can take twenty times its size in memory."""

TO_ENGINE = 64_000_000
"""Bytes of a frame from a host at most."""

DEPTH = 200
"""Lists and dicts in each other at most."""

_PARTS = 500_000
_HEAD = struct.Struct("!I")

Message: TypeAlias = Mapping[str, object]


class TooLarge(Exception):
    """A message that does not fit into a frame."""


@dataclass(frozen=True, slots=True)
class Hello:
    """An engine is there and waits for its script."""

    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Execute:
    """The script to run."""

    source: str
    name: str
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    tools: Sequence[str] = ()
    namespaces: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    memory_mb: int = 0
    """What the script was given; for messages."""

    memory_bytes: int | None = None
    """Address space that the process may have in all."""

    cpu_seconds: int | None = None
    recursion: int = 1_000
    tape: Mapping[str, object] | None = None
    """`seed` and `clock` of a run that may be executed again."""


@dataclass(frozen=True, slots=True)
class Asked:
    """The script calls a tool."""

    id: str
    tool: str
    positional: tuple[object, ...]
    arguments: Mapping[str, object]
    replayable: bool = True
    """Whether it would come again in the same order."""


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """Nobody in the script waits for a call any more."""

    id: str


@dataclass(frozen=True, slots=True)
class Refused:
    """A call that cannot be understood; it is answered, not made."""

    id: str
    why: str


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of a call."""

    id: str
    value: object = None
    error: Mapping[str, str] | None = None
    """`code`, `message` and `hint` of the `ToolError`."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """Nothing in the script can go on before one of these calls is answered."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Printed:
    """The script printed: into its pipes, or this text."""

    stream: Literal["stdout", "stderr"] = "stdout"
    text: str = ""


@dataclass(frozen=True, slots=True)
class Took:
    """The script looked at clocks."""

    readings: tuple[float, ...]
    torn: bool = False
    """It looked at them more often than is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The script came to an end."""

    how: Literal["returned", "raised", "exceeded"]
    value: object = None
    kind: str = ""
    message: str = ""
    line: int | None = None
    traceback: str = ""
    code: str | None = None
    tool: str | None = None
    limit: str = ""


@dataclass(frozen=True, slots=True)
class Broken:
    """The far side does not keep the protocol; nothing it says after this counts."""

    why: str


FromEngine: TypeAlias = (
    Hello | Asked | Withdrawn | Refused | Blocked | Printed | Took | Finished | Broken
)
FromHost: TypeAlias = Execute | Answered | Broken

_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode


def frame(message: Message, limit: int) -> bytes:
    """Return a message as bytes; half a character, which UTF-8 has not, becomes a question mark.

    Raises:
        TooLarge: It is longer than the limit.
        TypeError: It is not JSON.
        ValueError: It is not JSON, is nested too deeply, or has an integer that cannot be written.
    """
    body = _encode(message).encode("utf-8", "replace")
    if body.count(b"[") + body.count(b"{") > DEPTH and too_deep(message):
        raise ValueError(f"it is nested more than {DEPTH} deep")
    if len(body) > limit:
        raise TooLarge(f"{len(body):,} bytes of JSON; at most {limit:,} can cross")
    return _HEAD.pack(len(body)) + body


def too_deep(value: object) -> bool:
    """Return whether a value is nested deeper than may cross."""
    layer = [value]
    for _ in range(DEPTH + 1):
        inner: list[object] = []
        for item in layer:
            if isinstance(item, list | tuple):
                inner += cast("list[object]", item)
            elif isinstance(item, dict):
                inner += cast("dict[str, object]", item).values()
        layer = inner
        if not layer:
            return False
    return True


class _Wrong(Exception):
    """A message that is not as it should be."""


class Receiver:
    """Turns bytes into events, however they are split.

    Args:
        read: Makes an event of a message.
        limit: Bytes of a frame at most.
        wary: Whether the far side is not trusted.
    """

    def __init__(
        self, read: "Callable[[Message], object]", limit: int, *, wary: bool = False
    ) -> None:
        self._read = read
        self._limit = limit
        self._wary = wary
        self._buffer = bytearray()
        self._broken = False

    def receive(self, data: bytes) -> list[object]:
        """Take bytes, return the events that are complete with them."""
        if self._broken:
            return []
        buffer = self._buffer
        buffer += data
        events: list[object] = []
        at = 0
        while len(buffer) - at >= _HEAD.size and not self._broken:
            (size,) = _HEAD.unpack_from(buffer, at)
            end = at + _HEAD.size + size
            if size > self._limit:
                events.append(self._break(f"a frame of {size:,} bytes"))
            elif len(buffer) < end:
                break
            else:
                events.append(self._event(bytes(buffer[at + _HEAD.size : end])))
                at = end
        del buffer[:at]
        return events

    def _event(self, body: bytes) -> object:
        try:
            return self._read(self._message(body))
        except _Wrong as error:
            return self._break(str(error))

    def _message(self, body: bytes) -> Message:
        parts = body.count(b"[") + body.count(b"{") if self._wary else 0
        if parts > _PARTS:
            raise _Wrong(f"more than {_PARTS:,} lists and dicts in one frame")
        try:
            message: object = _decode(body.decode())
        except (ValueError, RecursionError) as error:
            raise _Wrong(f"a frame that is not JSON ({type(error).__name__})") from None
        if not isinstance(message, dict):
            raise _Wrong("a frame that is not an object")
        if parts > DEPTH and too_deep(cast("object", message)):
            raise _Wrong(f"a frame nested more than {DEPTH} deep")
        return cast("Message", message)

    def _break(self, why: str) -> Broken:
        self._broken = True
        self._buffer.clear()
        return Broken(why)


def from_engine() -> Receiver:
    """Return what reads the frames of an engine, as the host does."""
    return Receiver(_read_engine, TO_HOST, wary=True)


def from_host() -> Receiver:
    """Return what reads the frames of a host, as an engine does."""
    return Receiver(_read_host, TO_ENGINE)


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


_decode = json.JSONDecoder(parse_constant=_refuse_constant).decode


def _read_engine(message: Message) -> FromEngine:
    kind = message.get("type")
    read = _FROM_ENGINE.get(kind) if isinstance(kind, str) else None
    if read is None:
        raise _Wrong(f"a message of the unknown type {kind!r:.40}")
    return read(message)


def _blocked(message: Message) -> Blocked:
    return Blocked(tuple(_texts(message.get("ids"), "ids")))


def _withdrawn(message: Message) -> Withdrawn:
    return Withdrawn(_text(message.get("id"), "id"))


def _hello(message: Message) -> Hello:
    return Hello(_whole(message.get("version"), "version"))


def _asked(message: Message) -> Asked | Refused:
    call = _text(message.get("id"), "id")
    tool, positional = message.get("tool"), message.get("positional", [])
    arguments = message.get("arguments", {})
    if not isinstance(tool, str):
        return Refused(call, "`tool` must be a text")
    if not isinstance(positional, list) or not isinstance(arguments, dict):
        return Refused(call, "`positional` must be a list and `arguments` an object")
    given = tuple(cast("list[object]", positional))
    replayable = message.get("replayable") is not False
    return Asked(call, tool, given, cast("dict[str, object]", arguments), replayable)


def _printed(message: Message) -> Printed:
    stream, text = message.get("stream", "stdout"), message.get("text", "")
    if stream not in ("stdout", "stderr") or not isinstance(text, str):
        raise _Wrong("an `output` that names no stream, or without a text")
    return Printed(stream, text)


def _took(message: Message) -> Took:
    readings = message.get("readings", [])
    if not isinstance(readings, list):
        raise _Wrong("a `clock` without a list of readings")
    values = cast("list[object]", readings)
    if not all(isinstance(v, float) for v in values):
        raise _Wrong("a reading of a `clock` that is no number")
    return Took(tuple(cast("list[float]", values)), message.get("torn") is True)


_HOW = ("returned", "raised", "exceeded")
_LIMITS = ("memory_mb", "seconds", "recursion")


def _finished(message: Message) -> Finished:
    how, line = message.get("how"), message.get("line")
    if how not in _HOW or not (line is None or (type(line) is int and line > 0)):
        raise _Wrong("a `result` that does not say how the script ended")
    if how == "exceeded" and message.get("limit") not in _LIMITS:
        raise _Wrong("a `result` that names no limit")
    code, tool = message.get("code"), message.get("tool")
    return Finished(
        how=how,
        value=message.get("value"),
        kind=_text(message.get("kind", ""), "kind"),
        message=_text(message.get("message", ""), "message"),
        line=line,
        traceback=_text(message.get("traceback", ""), "traceback"),
        code=None if code is None else _text(code, "code"),
        tool=None if tool is None else _text(tool, "tool"),
        limit=_text(message.get("limit", ""), "limit"),
    )


_FROM_ENGINE: Mapping[str, Callable[[Message], FromEngine]] = {
    "tool_call": _asked,
    "waiting": _blocked,
    "output": _printed,
    "clock": _took,
    "tool_call_cancel": _withdrawn,
    "result": _finished,
    "hello": _hello,
}


def _read_host(message: Message) -> FromHost:
    if message.get("type") == "execute":
        fields = {name: value for name, value in message.items() if name != "type"}
        return Execute(**fields)  # pyright: ignore[reportArgumentType]  an engine trusts its host
    if message.get("type") == "tool_call_response":
        error = cast("Mapping[str, str] | None", message.get("error"))
        return Answered(_text(message.get("id"), "id"), message.get("value"), error)
    raise _Wrong(f"a message of the unknown type {message.get('type')!r:.40}")


def _text(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    raise _Wrong(f"`{name}` must be a text")


def _whole(value: object, name: str) -> int:
    if type(value) is int:
        return value
    raise _Wrong(f"`{name}` must be a whole number")


def _texts(value: object, name: str) -> Iterable[str]:
    if isinstance(value, list):
        return [_text(item, name) for item in cast("list[object]", value)]
    raise _Wrong(f"`{name}` must be a list")
