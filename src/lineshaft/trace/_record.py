"""The steps of one run: numbered and dated, shown to sinks, and appended to the run's log."""

import threading
import time
from collections.abc import Awaitable, Iterable, Mapping
from functools import lru_cache

from msgspec.structs import replace

from lineshaft.trace._redact import Redactor
from lineshaft.values import (
    ROW_OF,
    Event,
    EventKind,
    HeldLog,
    LogRow,
    RowKind,
    RunClaim,
    RunLog,
    Shown,
    Sink,
)

# Numbers by name; that a tool is called `get_token` makes its count no secret.
_COUNTERS = frozenset({"limits", "truncated", "usage"})
_DECIDED = "pending"
"""Calls that wait for a person's answer: nothing in them that may act is hidden."""
_PASSING = ("progress", "log")
"""Kinds that are not held back, since there may be any number of them."""

_NONE: Mapping[str, bytes] = {}


class Recorder:
    """Numbers, dates and redacts the steps of one run.

    Safe to use from several threads: sinks see one event at a time, in order.

    Args:
        run_id: The run.
        sinks: Get each event at once; an exception of one is raised from `tell`, after the others
            have had the event.
        redactor: Takes secrets out of all data.
        seq: Number of the run's last event so far.
        claim: On the run's log.
        log: Takes the steps; None: they are not kept.
        held: Takes them instead of `log`, until a step has to be durable.
    """

    def __init__(
        self,
        run_id: str,
        sinks: Iterable[Sink],
        redactor: Redactor,
        *,
        seq: int = 0,
        claim: RunClaim | None = None,
        log: RunLog | None = None,
        held: HeldLog | None = None,
    ) -> None:
        self.run_id = run_id
        self.redactor = redactor
        self._sinks = tuple(sinks)
        self._lock = threading.RLock()
        self._seq = self._log_seq = seq
        self._claim = claim or RunClaim(run_id=run_id, workspace="")
        self._log = log
        self._held = held if log is not None else None
        self.of_sink: Exception | None = None
        """What a sink raised last: the log is not broken by it."""

    @property
    def heard(self) -> bool:
        """Whether the steps are shown or kept at all."""
        return bool(self._sinks) or self._log is not None

    @property
    def holds_back(self) -> bool:
        """Whether the steps are lost with this process."""
        return self._held is not None

    @property
    def most_bytes(self) -> int:
        """The bytes of results that the run may keep."""
        log = self._held or self._log
        return 0 if log is None else log.most_bytes

    def note(self, kind: EventKind, call_id: str | None = None, **data: object) -> Event:
        """Record one event.

        Args:
            kind: The kind of event; `docs/record.md` lists the data of each.
            call_id: The call it belongs to.
            data: JSON-like; values of Lineshaft's classes become dicts.

        Returns:
            The event as recorded.
        """
        row = self.row(ROW_OF[kind], call_id, shown=((kind, self.redacted(data)),))
        with self._lock:
            self.append(row)
            return self._told(row)[0]

    def redacted(self, data: Mapping[str, object]) -> dict[str, object]:
        """Return the data of an event without its secrets."""
        return {
            name: value
            if name in _COUNTERS
            else (self.redactor.acting if name == _DECIDED else self.redactor).value(value)
            for name, value in data.items()
        }

    def row(
        self,
        kind: RowKind,
        call_id: str | None = None,
        *,
        container: str | None = None,
        shown: tuple[Shown, ...] = (),
        exact: Mapping[str, object] | None = None,
        blobs: Mapping[str, bytes] = _NONE,
    ) -> LogRow:
        """Return a step that happens now, for `append` and `tell`.

        Args:
            kind: The kind of step.
            call_id: The call it belongs to.
            container: The call that made that one.
            shown: Its events, redacted.
            exact: The state from which the run goes on.
            blobs: Large contents.
        """
        return LogRow(
            kind=kind,
            at=_now(),
            call_id=call_id,
            container=container,
            shown=shown,
            exact=exact,
            blobs=blobs,
        )

    def append(self, row: LogRow, *, durable: bool = False) -> Awaitable[None] | None:
        """Append a step to the log; a durable one takes along the steps held back.

        Raises:
            StateError: The log cannot be used.
            RecordError: The shown part cannot be written.
        """
        log, held = self._log, self._held
        if log is None or (held is not None and row.kind in _PASSING):
            return None
        with self._lock:  # rows of tools in threads come at any time: each takes its own numbers
            if row.shown:
                row = replace(row, event_seq=self._log_seq + 1)
            if held is None:
                written = log.append(self._claim, (row,), durable=durable)
            elif durable:
                rows = (*held.rows(self.run_id), row)
                self._held = None
                written = log.append(self._claim, rows, durable=True)
            else:
                written = held.append(self._claim, (row,))
            self._log_seq += len(row.shown)
        return written

    def tell(self, row: LogRow) -> None:
        """Hand the events of a step to the sinks, where there are any."""
        if self._sinks:
            self._told(row)
        else:
            with self._lock:
                self._seq += len(row.shown)

    def _told(self, row: LogRow) -> list[Event]:
        """Return the events of a step, once the sinks have them."""
        with self._lock:
            events = [
                Event(
                    run_id=self.run_id,
                    seq=number,
                    at=row.at,
                    kind=kind,
                    call_id=row.call_id,
                    data=data,
                )
                for number, (kind, data) in enumerate(row.shown, self._seq + 1)
            ]
            self._seq += len(events)
            failed: Exception | None = None
            for event in events:
                error = self._hand_out(event)
                failed = failed or error
        if failed is not None:
            self.of_sink = failed
            raise failed
        return events

    def drop_results(self) -> None:
        """Forget the results of calls in the steps held back."""
        if self._held is not None:
            self._held.drop_results(self.run_id)

    def _hand_out(self, event: Event) -> Exception | None:
        """Hand an event to the sinks; return what the first of them raised."""
        failed: Exception | None = None
        for sink in self._sinks:
            try:
                _call(sink, event)
            except Exception as error:  # noqa: BLE001  a sink is foreign code; the others go on
                name = getattr(sink, "__qualname__", repr(sink))
                error.add_note(f"(raised by the sink {name})")
                failed = failed or error
        return failed


def _call(sink: Sink, event: Event) -> None:
    try:
        sink(event)
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:  # of the sink's own: nobody can cancel what does not wait
        raise RuntimeError(f"it raised {error!r}") from error


def _now() -> str:
    second, thousandths = divmod(time.time_ns() // 1_000_000, 1_000)
    return f"{_written(second)}.{thousandths:03}Z"


@lru_cache(maxsize=1)
def _written(second: int) -> str:
    """Return a second since 1970 as ISO 8601 has it; many steps happen in one."""
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
