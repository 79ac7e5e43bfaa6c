"""Redaction of text that comes in pieces."""

from lineshaft.trace._formats import OPEN_KEY
from lineshaft.trace._redact import Redactor
from lineshaft.values import beginning

_MOST = 65_536


class RedactedStream:
    """Holds text back until no secret can straddle the cut, then gives it redacted.

    Whole lines pass at once; the last, unfinished one waits for its end, and so does a key block.
    What is waited for is bounded: after 65,536 characters all but the last word passes.

    Args:
        redactor: Knows the secrets.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def add(self, text: str) -> str:
        """Take a piece, and return the text that may be shown by now; often empty."""
        self._held += text
        if "\n" not in text and len(self._held) <= _MOST:
            return ""
        cut = self._held.rfind("\n") + 1
        while "PRIVATE KEY" in self._held and (key := OPEN_KEY.search(self._held, 0, cut)):
            cut = self._held.rfind("\n", 0, key.start()) + 1
        if len(self._held) - cut > _MOST:
            cut = max(self._held.rfind(" ") + 1, self._held.rfind("\n") + 1)
            cut = cut or len(beginning(f"{self._held}+", len(self._held)))
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._redactor.text(ready)

    def end(self) -> str:
        """Return the rest."""
        ready, self._held = self._held, ""
        return self._redactor.text(ready)
