"""Redaction of text that comes in pieces."""

from lineshaft.trace._formats import OPEN_KEY
from lineshaft.trace._redact import Redactor
from lineshaft.values import beginning

_MOST = 65_536
_BEGINNING = 200
"""Characters of a long secret by which the rest of it is known as one."""


class RedactedStream:
    """Holds text back until no secret can straddle the cut, then gives it redacted.

    Whole lines pass at once; the last, unfinished one waits for its end, and so does a key block.
    What is waited for is bounded: of more than 65,536 characters all passes but the last, as many
    as a secret may have. The middle of a secret that is longer is dropped.

    Args:
        redactor: Knows the secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._most = max(_MOST, 2 * redactor.overlap)
        self._held = ""

    def add(self, text: str) -> str:
        """Take a piece, and return the text that may be shown by now; often empty."""
        self._held += text
        if "\n" not in text and len(self._held) <= self._most:
            return ""
        cut = self._held.rfind("\n") + 1
        while "PRIVATE KEY" in self._held and (key := OPEN_KEY.search(self._held, 0, cut)):
            cut = self._held.rfind("\n", 0, key.start()) + 1
        if len(self._held) - cut > self._most:
            cut = self._long()
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._redactor.text(ready)

    def _long(self) -> int:
        """Return how much passes of what was held for long enough."""
        overlap = self._redactor.overlap
        start, end = _secret_at(self._redactor, self._held, len(self._held) - overlap)
        if start < end and end == len(self._held):  # its end is not there yet
            self._held = f"{self._held[: start + _BEGINNING]}{self._held[-overlap:]}"
        return start

    def end(self) -> str:
        """Return the rest."""
        ready, self._held = self._held, ""
        return self._redactor.text(ready)


def _secret_at(redactor: Redactor, text: str, at: int) -> tuple[int, int]:
    """Return where a text can be cut near a place, and the end of the secret that begins there."""
    first = last = len(beginning(text, at))
    for start, end in sorted(redactor.spans(text), reverse=True):
        if start < first < end:
            first, last = start, max(last, end)
    return first, last
