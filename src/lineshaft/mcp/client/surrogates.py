"""Half characters in JSON that a server sends: escapes of one surrogate without the other.

Servers in JavaScript that cut a text in the middle of an emoji send them. Parsers of the protocol
refuse the whole message, so the answer to a call that was made would be lost. Each is replaced by
U+FFFD, as decoders of UTF-8 do.
"""

import re

_ESCAPE = re.compile(
    rb"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"  # a whole character
    rb"|\\u(?P<half>[dD][89a-fA-F][0-9a-fA-F]{2})"
    rb"|\\.",
    re.DOTALL,
)
_UNFINISHED = re.compile(
    rb"(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\(?:u[0-9a-fA-F]{0,3})?)?", re.DOTALL
)
"""The start of an escape, or of the second half of a character."""

_LONGEST = 12
"""Bytes of the longest escape."""


def without_halves(data: bytes) -> bytes:
    """Return a whole text of JSON with U+FFFD for each half character."""
    if b"\\ud" not in data and b"\\uD" not in data:
        return data
    return _ESCAPE.sub(_replaced, data)


class HalvesFilter:
    """Replaces half characters in a text of JSON that comes in pieces."""

    def __init__(self) -> None:
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Return what can be told of the text by now; an escape that may go on is held."""
        data = self._held + data
        end = len(data)
        if b"\\" in data[1 - _LONGEST :]:
            end = _start_of_rest(data)
        self._held = data[end:]
        return without_halves(data[:end])

    def end(self) -> bytes:
        """Return the rest."""
        rest, self._held = self._held, b""
        return without_halves(rest)


def _start_of_rest(data: bytes) -> int:
    """Return where an escape begins that the next piece may go on with; else the end."""
    end = 0
    for found in _ESCAPE.finditer(data):
        if len(data) - found.start() < _LONGEST and _UNFINISHED.fullmatch(data, found.start()):
            return found.start()
        end = found.end()
    return len(data) - 1 if data[end:].endswith(b"\\") else len(data)


def _replaced(found: re.Match[bytes]) -> bytes:
    return b"\\ufffd" if found["half"] else found[0]
