"""Lines of two streams, as they come, in bounded memory."""

import codecs
from collections import deque

from lineshaft.values import NO_SECRETS, Line, SecretFinder, Stream, beginning

_LONGEST_LINE = 65_536
"""Characters; a longer line comes in pieces."""

_FULL = 262_144
"""Characters that may wait for the reader of the lines."""

_OVERFLOW = 16 * _FULL


class Splitter:
    """Cut the bytes of one stream into lines.

    Args:
        stream: Which one it is.
        secrets: What is not cut in two where a line comes in pieces.
    """

    def __init__(self, stream: Stream, *, secrets: SecretFinder = NO_SECRETS) -> None:
        self.stream: Stream = stream
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._secrets = secrets
        self._rest = ""

    def add(self, data: bytes) -> list[Line]:
        """Return the lines that these bytes complete.

        Args:
            data: The next bytes; empty at the end of the stream.
        """
        text = self._rest + self._decoder.decode(data, final=not data)
        *whole, self._rest = text.split("\n")
        pieces = [piece for line in whole for piece in self._pieces(line.removesuffix("\r"))]
        if not data and self._rest:
            pieces += self._pieces(self._rest.removesuffix("\r"))
            self._rest = ""
        while len(self._rest) > _LONGEST_LINE + self._secrets.overlap:
            pieces.append(self._piece(self._rest))
            self._rest = self._rest[len(pieces[-1]) :]
        return [Line(stream=self.stream, text=piece) for piece in pieces]

    def _pieces(self, line: str) -> list[str]:
        pieces: list[str] = []
        while len(line) > _LONGEST_LINE:
            pieces.append(self._piece(line))
            line = line[len(pieces[-1]) :]
        return [*pieces, line]

    def _piece(self, line: str) -> str:
        piece = beginning(line, _LONGEST_LINE, secrets=self._secrets)
        # All of it may be one secret, which then cannot be kept together.
        return piece if len(piece) > _LONGEST_LINE // 2 else line[:_LONGEST_LINE]


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
