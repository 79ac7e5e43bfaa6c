"""Meter of a script's output."""

from lineshaft.engines.host.protocol import RunEnded, broken
from lineshaft.values import Exceeded, Limits, Stream

_FACTOR = 200
"""Printed text may be this many times as long as the part that is kept."""


class OutputMeter:
    """Counts the bytes of each stream and ends a run that prints too much.

    Args:
        limits: The limits on the script's output.
    """

    def __init__(self, limits: Limits) -> None:
        self._room: dict[str, int] = {
            "stdout": limits.stdout_bytes * _FACTOR,
            "stderr": limits.stderr_bytes * _FACTOR,
        }

    def count(self, name: str, text: str) -> Stream:
        """Count printed text; return the stream that it belongs to.

        Args:
            name: Of the stream, as the guest says.
            text: The printed text.

        Raises:
            RunEnded: It is too much, or there is no such stream.
        """
        room = self._room.get(name)
        if room is None:
            raise broken("text for a stream that does not exist")
        room -= len(text) if text.isascii() else len(text.encode("utf-8", "replace"))
        self._room[name] = room
        stream: Stream = "stdout" if name == "stdout" else "stderr"
        if room < 0:
            limit = "stdout_bytes" if stream == "stdout" else "stderr_bytes"
            message = f"the script printed too much to {stream}"
            raise RunEnded(Exceeded(limit=limit, message=message))
        return stream
