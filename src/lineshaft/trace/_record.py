"""The record: events of a run, in order, redacted before anything keeps them."""

import threading
from collections.abc import Iterable
from datetime import UTC, datetime

from lineshaft.trace._redact import Redactor
from lineshaft.values import Event, EventKind, Sink

# Numbers by name; that a tool is called `get_token` makes its count no secret.
_COUNTERS = frozenset({"limits", "truncated", "usage"})


class Recorder:
    """Numbers, dates and redacts the events of one run, and hands them to sinks.

    Safe to use from several threads: sinks see one event at a time, in order.

    Args:
        run_id: The run.
        sinks: Get each event at once; what one raises is raised from `note`, after the others
            have had the event.
        redactor: Takes secrets out of all data.
        seq: Number of the last event that the run has already.
    """

    def __init__(
        self, run_id: str, sinks: Iterable[Sink], redactor: Redactor, *, seq: int = 0
    ) -> None:
        self.run_id = run_id
        self.redactor = redactor
        self._sinks = tuple(sinks)
        self._lock = threading.RLock()
        self._seq = seq

    def note(self, kind: EventKind, call_id: str | None = None, **data: object) -> Event:
        """Put one event into the record.

        Args:
            kind: What happened; `docs/record.md` says which data goes with it.
            call_id: The call it belongs to.
            data: JSON-like; our own values become dicts.

        Returns:
            The event as recorded.
        """
        redacted = {
            name: value if name in _COUNTERS else self.redactor.value(value)
            for name, value in data.items()
        }
        with self._lock:
            self._seq += 1
            event = Event(
                run_id=self.run_id,
                seq=self._seq,
                at=_now(),
                kind=kind,
                call_id=call_id,
                data=redacted,
            )
            self._hand_out(event)
        return event

    def _hand_out(self, event: Event) -> None:
        failed: Exception | None = None
        for sink in self._sinks:
            try:
                sink(event)
            except Exception as error:  # noqa: BLE001  a sink is foreign code; the others go on
                failed = failed or error
        if failed is not None:
            raise failed


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
