"""Lines of two streams, as they come, in bounded memory."""

import codecs
from collections import deque

from lineshaft.values import Line, Stream

_LONGEST_LINE = 65_536
"""Characters; a longer line comes in pieces."""

_FULL = 262_144
"""Characters that may wait for the reader of the lines."""

_OVERFLOW = 16 * _FULL


class Splitter:
    """Cut the bytes of one stream into lines."""

    def __init__(self, stream: Stream) -> None:
        self.stream: Stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def add(self, data: bytes) -> list[Line]:
        """Return the lines that these bytes complete.

        Args:
            data: The next bytes; empty at the end of the stream.
        """
        text = self._rest + self._decoder.decode(data, final=not data)
        *whole, self._rest = text.split("\n")
        lines = [Line(stream=self.stream, text=piece) for line in whole for piece in _pieces(line)]
        if not data and self._rest:
            lines += [Line(stream=self.stream, text=piece) for piece in _pieces(self._rest)]
            self._rest = ""
        while len(self._rest) > _LONGEST_LINE:
            lines.append(Line(stream=self.stream, text=self._rest[:_LONGEST_LINE]))
            self._rest = self._rest[_LONGEST_LINE:]
        return lines


def _pieces(line: str) -> list[str]:
    line = line.removesuffix("\r")
    if len(line) <= _LONGEST_LINE:
        return [line]
    return [line[at : at + _LONGEST_LINE] for at in range(0, len(line), _LONGEST_LINE)]


class LineQueue:
    """Lines that were not taken yet."""

    def __init__(self) -> None:
        self._lines: deque[Line] = deque()
        self._size = 0

    @property
    def full(self) -> bool:
        """Whether the process should wait for the reader."""
        return self._size > _FULL

    def put(self, lines: list[Line]) -> None:
        """Add lines; drop the excess of a process that is being ended."""
        for line in lines:
            if self._size < _OVERFLOW:
                self._lines.append(line)
                self._size += len(line.text) + 1

    def take(self) -> Line | None:
        """Return the oldest line, or None."""
        if not self._lines:
            return None
        line = self._lines.popleft()
        self._size -= len(line.text) + 1
        return line
