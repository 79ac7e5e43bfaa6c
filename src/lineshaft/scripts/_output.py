"""What a script prints: kept up to a cap for the result, redacted line by line for the record."""

from collections.abc import Callable

from lineshaft.processes import Capture
from lineshaft.trace import Redactor
from lineshaft.values import Limits, Stream

_LONGEST_LINE = 64_000


class Printed:
    """Takes the output of one run.

    Args:
        limits: Caps, in bytes.
        redactor: Takes secrets out of what is recorded.
        note: Records a redacted piece of text of a stream; None where nobody listens.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        redactor: Redactor,
        note: Callable[[Stream, str], None] | None,
    ) -> None:
        self._kept: dict[Stream, Capture] = {
            "stdout": Capture(limits.stdout_bytes),
            "stderr": Capture(limits.stderr_bytes),
        }
        self._partial: dict[Stream, str] = {"stdout": "", "stderr": ""}
        self._redactor = redactor
        self._note = note

    def take(self, stream: Stream, text: str) -> None:
        """Take printed text, in order."""
        self._kept[stream].add(text)
        if self._note is None:
            return
        # Whole lines only, so that a secret is never seen in two halves.
        lines, newline, rest = (self._partial[stream] + text).rpartition("\n")
        if len(rest) > _LONGEST_LINE:
            lines, newline, rest = lines + newline + rest, "", ""
        self._partial[stream] = rest
        if lines or newline:
            self._note(stream, self._redactor.text(lines + newline))

    def finish(self) -> None:
        """Record what stands in a last line without a line break."""
        for stream, rest in self._partial.items():
            if rest and self._note is not None:
                self._note(stream, self._redactor.text(rest))
            self._partial[stream] = ""

    def text(self, stream: Stream) -> str:
        """Return what was kept, with a marker where something was left out."""
        return self._kept[stream].text()

    @property
    def truncated(self) -> dict[str, int]:
        """Return the bytes left out, by stream."""
        return {stream: kept.dropped for stream, kept in self._kept.items() if kept.dropped}
