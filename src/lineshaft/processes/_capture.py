"""Keep the head and the tail of a stream, in bounded memory.

The head ends, and the tail begins, with a whole line where that is near, else between words: what
stands at the edge may be a secret, and half of one could not be known.
"""

from lineshaft.values import beginning, ending

_LONGEST_CHARACTER = 4


class Capture:
    """Text of at most so many bytes: some 40 % of the beginning, 60 % of the end, a marker between.

    Args:
        limit: Bytes to keep.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.total = 0
        """Bytes that were added."""

        self._head_limit = limit * 2 // 5
        self._tail_limit = limit - self._head_limit
        self._head = bytearray()
        self._tail = bytearray()

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self.total > self.limit

    @property
    def dropped(self) -> int:
        """Bytes that `text` leaves out."""
        head, tail = self._ends()
        return self.total - len(head) - len(tail)

    def add(self, data: bytes | str) -> None:
        """Add to the end.

        Args:
            data: Bytes as they came, or text, which is counted in UTF-8.
        """
        if isinstance(data, str):
            data = data.encode("utf-8", "backslashreplace")
        self.total += len(data)
        if room := self._head_limit - len(self._head):
            self._head += data[:room]
            data = data[room:]
        if len(data) >= self._tail_limit:
            self._tail = bytearray(data[len(data) - self._tail_limit :])
            return
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:
            del self._tail[: len(self._tail) - self._tail_limit]

    def text(self) -> str:
        """Return the kept text; bytes that are not UTF-8 become the replacement character."""
        head, tail = self._ends()
        if not self.truncated:
            return (head + tail).decode("utf-8", "replace")
        left_out = self.total - len(head) - len(tail)
        return (
            head.decode("utf-8", "replace")
            + f"\n[... {left_out:,} bytes left out ...]\n"
            + tail.decode("utf-8", "replace")
        )

    def _ends(self) -> tuple[bytes, bytes]:
        head = bytes(self._head)
        if not self.truncated:
            return head, bytes(self._tail)
        tail = bytes(self._tail[max(0, len(self._tail) - self._tail_limit) :])
        head, tail = _between_words(head, tail)
        return head[: _whole(head)], tail[_start(tail) :]


def _between_words(head: bytes, tail: bytes) -> tuple[bytes, bytes]:
    """Return both without the words that the edges go through."""
    before, after = f"{head.decode('latin-1')}+", f"+{tail.decode('latin-1')}"
    first = beginning(before, len(head), lines=True).encode("latin-1")
    return first, ending(after, len(tail), lines=True).encode("latin-1")


def _whole(data: bytes) -> int:
    """Return the end of the last whole character."""
    for back in range(1, min(_LONGEST_CHARACTER, len(data) + 1)):
        byte = data[-back]
        if byte < 0x80:
            break
        if byte >= 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return len(data) - back if length > back else len(data)
    return len(data)


def _start(data: bytes) -> int:
    """Return the start of the first whole character."""
    for index, byte in enumerate(data[: _LONGEST_CHARACTER - 1]):
        if not 0x80 <= byte < 0xC0:
            return index
    return min(_LONGEST_CHARACTER - 1, len(data)) if data else 0
