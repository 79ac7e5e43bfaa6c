"""Keep the head and the tail of a stream, in bounded memory.

The head ends, and the tail begins, with a whole line where that is near, else between words, and
never in the middle of a secret: half of one could not be known. To see that, more is held than is
kept, by the overlap on both sides.
"""

from lineshaft.values import NO_SECRETS, SecretFinder, beginning, ending

_LONGEST_CHARACTER = 4


class Capture:
    """Text of at most so many bytes: some 40 % of the beginning, 60 % of the end, a marker between.

    Args:
        limit: Bytes to keep.
        secrets: What must not be cut in two.
    """

    def __init__(self, limit: int, *, secrets: SecretFinder = NO_SECRETS) -> None:
        self.limit = limit
        self.total = 0
        """Bytes that were added."""

        self._head_limit = limit * 2 // 5
        self._tail_limit = limit - self._head_limit
        self._secrets = secrets
        self._most_head = self._head_limit + _LONGEST_CHARACTER * secrets.overlap
        self._most_tail = self._tail_limit + _LONGEST_CHARACTER * secrets.overlap
        self._head = bytearray()
        self._tail = bytearray()
        self._cut: tuple[bytes, bytes] | None = None

    @property
    def truncated(self) -> bool:
        """Whether anything was left out."""
        return self.total > self.limit

    @property
    def dropped(self) -> int:
        """Bytes that `text` leaves out."""
        head, tail = self._ends()
        return self.total - len(head) - len(tail)

    @property
    def replaced(self) -> int:
        """Bytes of what is kept that are not UTF-8, and that `text` replaces."""
        head, tail = self._ends()
        return not_utf8(head + tail) if not self.truncated else not_utf8(head) + not_utf8(tail)

    def add(self, data: bytes | str) -> None:
        """Add to the end.

        Args:
            data: Bytes as they came, or text, which is counted in UTF-8.
        """
        if isinstance(data, str):
            data = data.encode("utf-8", "backslashreplace")
        self.total += len(data)
        self._cut = None
        if room := self._most_head - len(self._head):
            self._head += data[:room]
        if len(data) >= self._most_tail:
            self._tail = bytearray(data[len(data) - self._most_tail :])
            return
        self._tail += data
        if len(self._tail) > 2 * self._most_tail:
            del self._tail[: len(self._tail) - self._most_tail]

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
        if not self.truncated:
            held = bytes(self._head[: self.total])
            return held, bytes(self._tail[len(self._tail) - (self.total - len(held)) :])
        if self._cut is None:
            self._cut = self._beginning(), self._ending()
        return self._cut

    def _beginning(self) -> bytes:
        """Return what is kept of the beginning; what follows it is looked at."""
        most = _whole(bytes(self._head[: self._head_limit]))
        text = _text(self._head[: _whole(bytes(self._head))])
        kept = beginning(text, len(_text(self._head[:most])), lines=True, secrets=self._secrets)
        return _bytes(kept)

    def _ending(self) -> bytes:
        """Return what is kept of the end; what comes before it is looked at."""
        held = bytes(self._tail[max(0, len(self._tail) - self._most_tail) :])
        held = held[_start(held) :] if len(held) < self.total else held
        last = held[max(0, len(held) - self._tail_limit) :]
        most = len(_text(last[_start(last) :]))
        return _bytes(ending(_text(held), most, lines=True, secrets=self._secrets))


def not_utf8(data: bytes) -> int:
    """Return how many bytes are not part of a text in UTF-8."""
    if data.isascii():
        return 0
    return sum("\udc80" <= character <= "\udcff" for character in _text(data))


def _text(data: bytes | bytearray) -> str:
    """Return bytes as text from which they can be had again, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


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
