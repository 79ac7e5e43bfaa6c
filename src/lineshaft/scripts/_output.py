"""A script's output: kept up to a cap for the result, redacted line by line for the record."""

from collections.abc import Callable

from lineshaft.processes import Capture
from lineshaft.trace import RedactedStream, Redactor
from lineshaft.values import Limits, Stream


class Printed:
    """Takes the output of one run.

    Args:
        limits: Caps, in bytes.
        redactor: Takes secrets out of the recorded text.
        note: Records a redacted piece of text of a stream.
        heard: Whether there is a listener.
    """

    def __init__(
        self,
        limits: Limits,
        *,
        redactor: Redactor,
        note: Callable[[Stream, str], None],
        heard: Callable[[], bool],
    ) -> None:
        self._kept: dict[Stream, Capture] = {
            "stdout": Capture(limits.stdout_bytes, secrets=redactor),
            "stderr": Capture(limits.stderr_bytes, secrets=redactor),
        }
        # Redacted as a stream, so that a secret is never seen in two halves.
        self._shown: dict[Stream, RedactedStream] = {
            "stdout": RedactedStream(redactor),
            "stderr": RedactedStream(redactor),
        }
        self._note = note
        self._heard = heard

    def take(self, stream: Stream, text: str) -> None:
        """Take printed text, in order."""
        self._kept[stream].add(text)
        if self._heard() and (shown := self._shown[stream].add(text)):
            self._note(stream, shown)

    def finish(self) -> None:
        """Record the text held back."""
        for stream, waiting in self._shown.items():
            rest = waiting.end()
            if rest:
                self._note(stream, rest)

    def text(self, stream: Stream) -> str:
        """Return the kept text, with a marker where text was left out."""
        return self._kept[stream].text()

    @property
    def truncated(self) -> dict[str, int]:
        """Return the bytes left out, by stream."""
        return {stream: kept.dropped for stream, kept in self._kept.items() if kept.dropped}
