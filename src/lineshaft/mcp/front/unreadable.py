"""Lines and bodies that are no message: each is answered under its id, where that can be read.

The SDK drops what it cannot read, and a client would wait for its answer for ever.
"""

import json
from contextlib import suppress
from typing import Literal, cast

import mcp_types as types

from lineshaft.mcp.client import EDGE, Cut, id_between

Place = Literal["line", "request"]
"""What a message comes in: a line of standard input, or a request of HTTP."""


def message_in(
    given: bytes | Cut, most_bytes: int, *, place: Place
) -> "types.JSONRPCMessage | Unreadable":
    """Return the message that a client sent.

    Args:
        given: What came.
        most_bytes: The longest message.
        place: Where it came in.
    """
    if not isinstance(given, Cut):
        with suppress(ValueError):
            found = types.jsonrpc_message_adapter.validate_json(given, by_name=False)
            # The SDK takes a request for a notice where its id is of no kind that an id has.
            if not isinstance(found, types.JSONRPCNotification) or "id" not in json.loads(given):
                return found
    return Unreadable(given, most_bytes, place=place)


class Unreadable:
    """A line, or the body of a request, that is no message.

    Args:
        line: The line, or the body.
        most_bytes: The longest message.
        place: Where it came in.
    """

    def __init__(self, line: bytes | Cut, most_bytes: int, *, place: Place) -> None:
        self._code = types.INVALID_REQUEST
        self._message = "no JSON-RPC message of MCP"
        if isinstance(line, Cut):
            self._id = id_between(line.head, line.tail)
            self.is_answer = _answers(line.head + line.tail)
            """Whether it seems to answer one of our own requests."""

            self._message = f"a message of more than {most_bytes:,} bytes: it was not read"
            return
        try:
            found: object = json.loads(line)
        except (ValueError, RecursionError):
            self._id = id_between(line[:EDGE], b"")  # a later id may be one of what is inside
            self.is_answer = _answers(line[:EDGE])
            self._code, self._message = types.PARSE_ERROR, f"a {place} that is no JSON"
            return
        message = cast("dict[str, object]", found) if isinstance(found, dict) else {}
        self._id = _id(message.get("id"))
        self.is_answer = _answers(list(message))
        if isinstance(found, list):
            self._message = f"a batch of messages: send each in a {place} of its own"
        elif not _is_text(cast("object", found)):
            self._message = "a text in it has half a character (a lone surrogate, such as \\ud83d)"
        elif self._id is None and "id" in message:
            self._message = "a request whose id is neither a text nor a whole number"

    @property
    def has_id(self) -> bool:
        """Whether it is known what it belongs to."""
        return self._id is not None

    @property
    def error(self) -> types.JSONRPCError:
        """The error for its sender; or for us, who asked for what it was to answer."""
        error = types.ErrorData(code=self._code, message=self._message)
        return types.JSONRPCError(jsonrpc="2.0", id=self._id, error=error)


def _id(given: object) -> int | str | None:
    """Return an id that can be sent back."""
    if isinstance(given, bool) or not isinstance(given, int | str):
        return None
    return given if _is_text(given) else None


def _is_text(value: object) -> bool:
    """Return whether all texts in a value can be sent."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return False
    return True


def _answers(keys: bytes | list[str]) -> bool:
    """Return whether the keys of a message are those of an answer.

    Args:
        keys: They, or the ends of the message as they came.
    """
    if isinstance(keys, bytes):
        return b'"method"' not in keys and (b'"result"' in keys or b'"error"' in keys)
    return "method" not in keys and ("result" in keys or "error" in keys)
