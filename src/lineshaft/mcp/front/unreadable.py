"""Lines of a client that are no message: each is answered as far as it can be told what it was.

The SDK drops what it cannot read, and a client would wait for its answer for ever.
"""

import json
from typing import cast

import mcp_types as types
from mcp.shared.message import SessionMessage

from lineshaft.mcp.client import EDGE, Cut, id_between


class Unreadable:
    """A line that is no message.

    Args:
        line: The line.
        most_bytes: The longest message.
    """

    def __init__(self, line: bytes | Cut, most_bytes: int) -> None:
        head, tail = (line.head, line.tail) if isinstance(line, Cut) else (line, line[-EDGE:])
        self._id = id_between(head[:EDGE], tail)
        self.is_answer = self._id is not None and _answers(head[:EDGE] + tail)
        """Whether it seems to answer one of our own requests."""

        if isinstance(line, Cut):
            self._code = types.INVALID_REQUEST
            self._message = f"a message of more than {most_bytes:,} bytes: it was not read"
            return
        try:
            found: object = json.loads(line)
        except (ValueError, RecursionError):
            self._code, self._message = types.PARSE_ERROR, "a line that is no JSON"
            return
        self._code = types.INVALID_REQUEST
        self._read(found)

    @property
    def error(self) -> SessionMessage:
        """The error for its sender; or for us, who asked for what it was to answer."""
        error = types.ErrorData(code=self._code, message=self._message)
        return SessionMessage(types.JSONRPCError(jsonrpc="2.0", id=self._id, error=error))

    def _read(self, found: object) -> None:
        """Look at what JSON it is."""
        self._message = "no JSON-RPC message of MCP"
        if isinstance(found, list):
            self._message = "a batch of messages: send each in a line of its own"
        if not isinstance(found, dict):
            self._id, self.is_answer = None, False
            return
        message = cast("dict[str, object]", found)
        given = message.get("id")
        plain = isinstance(given, int | str) and not isinstance(given, bool)
        self._id = cast("int | str", given) if plain else None
        self.is_answer = self._id is not None and _answers(list(message))
        try:
            json.dumps(message, ensure_ascii=False).encode()
        except (ValueError, RecursionError):
            self._message = "a text in it has half a character (a lone surrogate, such as \\ud83d)"


def _answers(keys: bytes | list[str]) -> bool:
    """Return whether the keys of a message are those of an answer.

    Args:
        keys: They, or the two ends of the message as it came.
    """
    if isinstance(keys, bytes):
        return b'"method"' not in keys and (b'"result"' in keys or b'"error"' in keys)
    return "method" not in keys and ("result" in keys or "error" in keys)
