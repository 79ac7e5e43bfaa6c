"""Messages between a guest and its host, as JSON: read with bounds, written with bounds.

Above: the order of turns and the engines. Below: nothing; this file does no I/O. The host trusts no
    character from a guest: a malformed message ends the run (`RunEnded`), and no other exception
    leaves this file. `docs/engine-protocol.md` describes the messages and their order.
"""

import json
import math
from collections.abc import Mapping
from typing import NamedTuple, cast

from lineshaft.values import (
    Crashed,
    Done,
    Exceeded,
    Failure,
    Limits,
    Outcome,
    Program,
    Raised,
    Returned,
    Struct,
    too_deep,
)

TURN_BYTES = 16_000_000
"""Of one crossing, either way."""

MESSAGE_BYTES = 64_000_000
"""Of a message whose parts cross in several turns."""

DEPTH = 200
"""Lists and dicts in each other at most."""

PART = 3_000_000
"""Characters of one part of an answer: in UTF-8, and escaped once more, below a crossing."""

_CONTAINERS = 1_000_000
"""Lists and dicts in one message at most: in memory an empty one takes thirty times its text."""

_PIECE = 100_000
"""Characters of a long message that are looked at in one step."""

_NAME = 1_000
"""Characters of a tool's name at most."""

_SECONDS_MOST = 1e12
"""Longer times are as good as no end."""


class RunEnded(Exception):
    """A decision on how a run ends.

    Args:
        outcome: The outcome.
    """

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


def broken(why: str) -> RunEnded:
    """Return the end of a run whose guest does not keep the protocol."""
    return RunEnded(Crashed(message=f"the script's interpreter did not keep the protocol: {why}"))


class Requested(NamedTuple):
    """A tool call that the script makes."""

    id: int
    tool: str
    positional: tuple[object, ...]
    arguments: Mapping[str, object]


class Withdrawn(Struct, frozen=True):
    """A call whose result the script no longer wants."""

    id: int


class Slept(Struct, frozen=True):
    """A mark of a turn that only time ends."""


class RequestPart(Struct, frozen=True):
    """A piece of requests that are too long for one turn."""

    text: str
    more: bool


class Rest(Struct, frozen=True):
    """A request for the next piece of a long answer."""


Request = Requested | Withdrawn | Slept | RequestPart | Rest


def read_requests(text: str) -> list[Request]:
    """Return the requests of a turn.

    Raises:
        RunEnded: They are not as they should be.
    """
    if text == "[]":
        return []
    found = _read(text)
    if not isinstance(found, list):
        raise broken("requests that are not a list")
    return [_request(item) for item in cast("list[object]", found)]


def _request(item: object) -> Request:
    if not isinstance(item, dict):
        raise broken("a request that is no object")
    fields = cast("dict[str, object]", item)
    number = fields.get("call")
    if type(number) is int:  # nearly all of them
        return _requested(number, fields)
    match fields:
        case {"cancel": int() as number}:
            return Withdrawn(number)
        case {"sleep": True}:
            return Slept()
        case {"part": str() as text, "more": bool() as more}:
            return RequestPart(text, more)
        case {"rest": True}:
            return Rest()
        case _:
            raise broken("a request of an unknown kind")


def _requested(number: int, fields: Mapping[str, object]) -> Requested:
    tool = fields.get("tool")
    positional, arguments = fields.get("positional", []), fields.get("arguments", {})
    if not isinstance(tool, str) or len(tool) > _NAME:
        raise broken("a call without the name of a tool")
    if not isinstance(positional, list) or not isinstance(arguments, dict):
        raise broken("a call whose arguments are not a list and an object")
    given = tuple(cast("list[object]", positional))
    return Requested(number, tool, given, cast("dict[str, object]", arguments))


def bounded_seconds(seconds: float) -> float | None:
    """Return the time of a turn; None: no time ends it."""
    if not 0 <= seconds < _SECONDS_MOST:  # also where it is not a number
        return None
    return seconds


PASSED = "[]"
"""The answer to a turn whose time has passed."""


def completion_text(number: int, done: Done) -> str:
    """Return the answer to a turn that a call's completion ends.

    A value that cannot be sent becomes an error of its call.
    """
    if isinstance(done, Failure):
        return _failure_text(number, done)
    try:
        text = _write([{"id": number, "value": done.value}])
    except (TypeError, ValueError, RecursionError) as error:
        return _failure_text(
            number, Failure("E_INVALID_RESULT", f"the result cannot be given to a script: {error}")
        )
    if len(text) <= MESSAGE_BYTES // 4 or len(text.encode()) <= MESSAGE_BYTES:
        return text
    message = f"the result has more than {MESSAGE_BYTES:,} bytes of JSON"
    hint = "ask for less at once"
    return _failure_text(number, Failure("E_TOO_LARGE", message, hint))


def part_text(text: str, *, more: bool) -> str:
    """Return the answer that holds a piece of a long answer."""
    return _write([{"part": text, "more": more}])


def _failure_text(number: int, failure: Failure) -> str:
    error = {"code": failure.code, "message": failure.message, "hint": failure.hint}
    return _write([{"id": number, "error": error}])


def order_text(program: Program, limits: Limits, *, packages: bool) -> str:
    """Return the order to execute a script.

    Args:
        program: The script.
        limits: Its limits.
        packages: Whether it may import packages.

    Raises:
        RunEnded: The script or its inputs cannot be sent.
    """
    try:
        program.source.encode()
    except UnicodeEncodeError as error:
        raise RunEnded(Raised(kind="SyntaxError", message=str(error))) from None
    order = {
        "do": "script",
        "source": program.source,
        "name": program.name,
        "inputs": dict(program.inputs),
        "tools": sorted(program.tools),
        "namespaces": {name: sorted(tools) for name, tools in program.namespaces.items()},
        "signatures": dict(program.signatures),
        "memory_mb": limits.memory_mb,
        "recursion": limits.recursion,
        "packages": packages,
        "workspace_imports": program.workspace_module is not None,
    }
    try:
        text = _write(order)
    except (TypeError, ValueError, RecursionError) as error:
        raise _unsendable(str(error)) from None
    if len(text.encode()) > TURN_BYTES:
        raise _unsendable(f"they have more than {TURN_BYTES:,} bytes of JSON")
    return text


def _unsendable(why: str) -> RunEnded:
    return RunEnded(Raised(kind="TypeError", message=f"the inputs cannot be sent: {why}"))


def read_result(text: str) -> Outcome:
    """Return how a script ended, from the last word of its guest; garbage is a crash."""
    try:
        return _result(_read(text))
    except RunEnded as ended:
        return ended.outcome


def _result(found: object) -> Outcome:
    match found:
        case {"how": "returned"}:
            return Returned(value=cast("dict[str, object]", found).get("value"))
        case {"how": "exceeded", "limit": "memory_mb" | "recursion"}:
            fields = cast("dict[str, object]", found)
            limit = "memory_mb" if fields["limit"] == "memory_mb" else "recursion"
            return Exceeded(limit=limit, message=_text(fields, "message"), line=_line(fields))
        case {"how": "raised"}:
            fields = cast("dict[str, object]", found)
            return Raised(
                kind=_text(fields, "kind"),
                message=_text(fields, "message"),
                line=_line(fields),
                traceback=_text(fields, "traceback"),
                code=_text_or_none(fields, "code"),
                tool=_text_or_none(fields, "tool"),
            )
        case _:
            raise broken("a result that does not say how the script ended")


def _text(fields: Mapping[str, object], name: str) -> str:
    return _text_or_none(fields, name) or ""


def _text_or_none(fields: Mapping[str, object], name: str) -> str | None:
    value = fields.get(name)
    if value is None or isinstance(value, str):
        return value
    raise broken(f"a result whose {name!r} is no text")


def _line(fields: Mapping[str, object]) -> int | None:
    value = fields.get("line")
    if value is None or (type(value) is int and 0 < value < 1 << 31):
        return value
    raise broken("a result whose line is no number of a line")


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"{text:.40} is too large")
    return value


_decode = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite).decode
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False, ensure_ascii=False).encode


def _read(text: str) -> object:
    """Return the value of JSON text from a guest."""
    containers = text.count("[") + text.count("{")
    if containers > _CONTAINERS and _has_too_many(text):
        raise broken(f"more than {_CONTAINERS:,} lists and dicts in one message")
    try:
        value: object = _decode(text)
    except (ValueError, RecursionError) as error:
        raise broken(f"a message that is not JSON ({type(error).__name__})") from None
    if containers > DEPTH and too_deep(value, DEPTH + 4):
        raise broken(f"a message nested more than {DEPTH} deep")
    if "\\ud" in text or "\\uD" in text:
        return _without_halves(value)
    return value


def _has_too_many(text: str) -> bool:
    """Return whether JSON text has more lists and dicts than may be; brackets in strings are none.

    What follows a fault in the text is miscounted: it is never made into lists and dicts.
    """
    count = start = is_inside = 0
    while start < len(text) and count <= _CONTAINERS:
        piece = text[start : start + _PIECE].replace("\\\\", "")
        start += _PIECE + piece.endswith("\\")  # its last escape reaches into the next piece
        parts = piece.replace('\\"', "").split('"')
        outside = "".join(parts[is_inside::2])
        count += outside.count("[") + outside.count("{")
        is_inside ^= (len(parts) - 1) & 1
    return count > _CONTAINERS


def _write(value: object) -> str:
    text = _encode(value)
    if text.count("[") + text.count("{") > DEPTH and too_deep(value, DEPTH + 4):
        raise ValueError(f"it is nested more than {DEPTH} deep")
    if text.isascii():
        return text
    return text.encode("utf-8", "replace").decode()  # half a character, which UTF-8 has not


def _without_halves(value: object) -> object:
    """Return a value whose texts can be written as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [_without_halves(item) for item in cast("list[object]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        return {_without_halves(key): _without_halves(item) for key, item in fields.items()}
    return value
