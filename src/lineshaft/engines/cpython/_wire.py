"""Frames between a host and the jailed process of one run: bytes in, messages out.

Above: `_run.py` in the host, `inside/_link.py` in the jailed process; both have the same copy, so
it uses the standard library alone and does no I/O. `docs/engine-protocol.md` describes the
messages.

A frame is a byte for its kind, four bytes for the length of the contents, most significant first,
and the contents. The host trusts no byte of it: a malformed frame raises `Broken`.
"""

import struct
from collections.abc import Iterator, Mapping

VERSION = 2
"""Of these frames; said in the first of them."""

HELLO, TURN, STDOUT, STDERR, PACKAGE, READINGS, DIVERGED, RESULT = range(1, 9)
"""From a guest."""

SETTINGS, PAST, ORDER, ANSWER, MODULE = range(33, 38)
"""From a host."""

_HEAD = struct.Struct("!BI")
_TURN = struct.Struct("!d?")
_ANSWER = struct.Struct("!q?")
_PAST = struct.Struct("!I")
_PAST_ROOM = 1 << 16
_CROSSING = 16_000_000
_WHOLE = 64_000_000
_SMALL = 1_000_000

FROM_GUEST: Mapping[int, int] = {
    HELLO: 16,
    TURN: _CROSSING + 64,
    STDOUT: _CROSSING,
    STDERR: _CROSSING,
    PACKAGE: _SMALL,
    READINGS: _CROSSING,
    DIVERGED: _SMALL,
    RESULT: _WHOLE,
}
"""Kinds, and bytes of each at most."""

FROM_HOST: Mapping[int, int] = {
    SETTINGS: _WHOLE,
    PAST: _WHOLE,
    ORDER: _WHOLE,
    ANSWER: _WHOLE,
    MODULE: _WHOLE,
}


class Broken(Exception):
    """The far side does not keep the protocol."""


class TooLong(Exception):
    """Contents that do not fit into a frame of their kind."""


def frame(kind: int, data: bytes) -> bytes:
    """Return a frame.

    Raises:
        TooLong: It is more than the far side takes.
    """
    most = FROM_GUEST.get(kind) or FROM_HOST[kind]
    if len(data) > most:
        raise TooLong(f"{len(data):,} bytes where {most:,} are the most")
    return _HEAD.pack(kind, len(data)) + data


def pack_turn(seconds: float, *, behind: bool, requests: str) -> bytes:
    """Return the contents of a `TURN`.

    Args:
        seconds: Until it is over.
        behind: Whether readings of the record are left.
        requests: The guest's requests with it.
    """
    return _TURN.pack(seconds, behind) + requests.encode("utf-8", "replace")


def unpack_turn(data: bytes) -> tuple[float, bool, str]:
    """Return the time of a turn, whether readings are left, and the requests.

    Raises:
        Broken: It is no turn.
    """
    if len(data) < _TURN.size:
        raise Broken("a turn that is cut short")
    seconds, behind = _TURN.unpack_from(data)
    return seconds, behind, text_of(data[_TURN.size :])


def pack_answer(now: int, *, live: bool, text: str) -> bytes:
    """Return the contents of an `ANSWER`.

    Args:
        now: Nanoseconds on the run's clock.
        live: Whether clocks are read anew from now on.
        text: Of the answer.
    """
    return _ANSWER.pack(now, live) + text.encode("utf-8", "replace")


def unpack_answer(data: bytes) -> tuple[int, bool, str]:
    """Return the time on the run's clock, whether clocks are read anew, and the answer."""
    now, live = _ANSWER.unpack_from(data)
    return now, live, data[_ANSWER.size :].decode()


def pack_past(readings: bytes) -> bytes:
    """Return the contents of a `PAST`: readings of clocks of the run's earlier segments.

    They are as long for few readings as for none, so that the process keeps them at the same
    addresses.
    """
    return _PAST.pack(len(readings)) + readings.ljust(_PAST_ROOM, b"\0")


def unpack_past(data: bytes) -> bytes:
    """Return the readings."""
    (length,) = _PAST.unpack_from(data)
    return data[_PAST.size : _PAST.size + length]


def text_of(data: bytes) -> str:
    """Return the text that came in a frame.

    Raises:
        Broken: It is none.
    """
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise Broken("a message that is not UTF-8") from None


class Receiver:
    """Takes bytes as they come, and gives frames.

    Args:
        kinds: The permitted kinds, and the longest contents of each.
    """

    def __init__(self, kinds: Mapping[int, int]) -> None:
        self._kinds = kinds
        self._held = bytearray()

    def receive(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the whole frames: kind and contents.

        Raises:
            Broken: A frame is not permitted.
        """
        held = self._held
        held += data
        at = 0
        try:
            while len(held) - at >= _HEAD.size:
                kind, length = _HEAD.unpack_from(held, at)
                most = self._kinds.get(kind)
                if most is None:
                    raise Broken(f"a frame of the unknown kind {kind}")
                if length > most:
                    raise Broken(f"a frame of {length:,} bytes where {most:,} are the most")
                end = at + _HEAD.size + length
                if len(held) < end:
                    return
                whole = bytes(held[at + _HEAD.size : end])
                at = end
                yield kind, whole
        finally:
            del held[:at]
