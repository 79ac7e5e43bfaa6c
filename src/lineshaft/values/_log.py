"""The run log: one row for each step, from which a run is shown and goes on.

A row has a *shown* part, redacted before it comes here, and an *exact* one; one append writes both.
Implementations: `lineshaft.store.Store` (a file of SQLite) and `lineshaft.store.MemoryLog`. `repr`
    of a row leaves out the exact part.
"""

import base64
import zlib
from collections.abc import Awaitable, Iterable, Iterator, Mapping, Sequence
from typing import Literal, Protocol

from msgspec import field

from lineshaft.values._calls import Done, Value
from lineshaft.values._runs import Event, EventKind
from lineshaft.values._saved_run import KeptCall, KeptPause, SavedRun
from lineshaft.values._struct import Struct, as_dict

RowKind = Literal[
    "begin",
    "call",
    "answer",
    "started",
    "ended",
    "turn",
    "output",
    "progress",
    "log",
    "usage",
    "merged",
    "landing",
    "landed",
    "checkpoint",
    "resumed",
    "end",
]

Shown = tuple[EventKind, Mapping[str, object]]
"""The kind of an event, and its data, redacted."""

ROW_OF: Mapping[EventKind, RowKind] = {
    "run_started": "begin",
    "run_paused": "checkpoint",
    "run_resumed": "resumed",
    "answer": "answer",
    "call_asked": "call",
    "verdict": "call",
    "call_started": "started",
    "call_finished": "ended",
    "output": "output",
    "progress": "progress",
    "log": "log",
    "usage": "usage",
    "changes": "landed",
    "run_finished": "end",
}
"""The kind of the row that shows one event alone."""


class LogRow(Struct, frozen=True, kw_only=True):
    """One step of a run."""

    __unshown__ = frozenset({"exact", "blobs"})

    kind: RowKind
    at: str
    """UTC, ISO 8601 with milliseconds."""

    call_id: str | None = None
    container: str | None = None
    """The call that made this one."""

    event_seq: int = 0
    """The number of its first event; 0: it shows none."""

    shown: tuple[Shown, ...] = ()
    """Its events: one allowed call is three of them."""

    exact: Mapping[str, object] | None = None
    """JSON-like. Kinds that have it:

    `begin` (`workspace`, `document`), `call` (the fields of a `KeptCall`), `started` (nothing in
    it), `ended` (`done`, and `call` with the fields that differ from the call's row), `turn`
    (`turns`, `readings`, `torn`; with a call id these are of the script of that container, and the
    first such row has `script`: `engine`, `identity`, `source`), `merged` (nothing in it),
    `landing` (`stage`, and `layers`: the containers whose changes land with those of the run),
    `landed` (`stage`), `checkpoint` (`document`, `pending`, `expires_at`), `resumed` (`turns`,
    `readings`: how much of them holds; `scripts`: keys of the containers of whose scripts all
    holds), `end` (`end`; empty: nothing exact stays).
    """

    blobs: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """Large contents of a checkpoint, by name."""

    def events(self, run_id: str) -> Iterator[Event]:
        """Return the row's shown part, as events of a run."""
        for number, (kind, data) in enumerate(self.shown, self.event_seq):
            yield Event(
                run_id=run_id, seq=number, at=self.at, kind=kind, call_id=self.call_id, data=data
            )


def call_data(call: KeptCall) -> dict[str, object]:
    """Return a call as a row holds it."""
    return {
        "key": call.key,
        "id": call.id,
        "tool": call.tool,
        "arguments": call.arguments,
        "origin": call.origin,
        "parent": call.parent,
        "effect": call.effect,
        "staged": call.staged,
        "stage": call.stage,
        "rule": call.rule,
    }


def done_data(done: Done) -> dict[str, object]:
    """Return how a call ended, as a row holds it."""
    return {"value": done.value} if isinstance(done, Value) else as_dict(done)


def pause_data(pause: KeptPause) -> dict[str, object]:
    """Return a pause as a row holds it, beside its blobs."""
    return {
        "document": pause.document,
        "pending": [as_dict(each) for each in pause.pending],
        "expires_at": pause.expires_at,
    }


def packed(readings: bytes) -> str:
    """Return readings of clocks as a row holds them."""
    return base64.b64encode(zlib.compress(readings)).decode() if readings else ""


def unpacked(text: str) -> bytes:
    """Return the readings that `packed` was given."""
    return zlib.decompress(base64.b64decode(text)) if text else b""


class RunClaim(Struct, frozen=True, kw_only=True):
    """The right to append to the log of one run, as long as no other process takes the run."""

    run_id: str
    workspace: str
    """Which workspace, as the log tells them apart."""

    lease_no: int = 1
    """Each process that takes the run has the next number."""


class RunLog(Protocol):
    """Keeps the logs of runs.

    Raises:
        StateError: From every method: the log cannot be used; the run must not go on.
    """

    @property
    def most_bytes(self) -> int:
        """The bytes of results that a run may keep; one with more cannot be paused."""
        ...

    def append(
        self, claim: RunClaim, rows: Sequence[LogRow], *, durable: bool = False
    ) -> Awaitable[None]:
        """Add rows to a run, all or none, after all rows appended before.

        The run begins with its first row. A `checkpoint` gives the run up; after an `end` nothing
        can be added.

        Args:
            claim: Of the run.
            rows: In order.
            durable: Whether they are on the disk once the answer was awaited. Other rows need not
                be awaited; a failure to write them is raised by a later append.

        Raises:
            RecordError: The shown part cannot be written.
            StateError: The exact part cannot be written, or earlier rows could not.
            RunBusy: Another process took the run.
        """
        ...

    async def take(self, run_id: str) -> tuple[SavedRun, RunClaim]:
        """Take a run that waits, or whose process died; one of several processes gets it.

        Where the caller is cancelled meanwhile, or gets an error, the run is not taken.

        Raises:
            RunUnknown: No exact state of it is kept.
            RunBusy: A living process works on it, or it is over.
            StateExpired: The time for which it was kept is over.
            UntrustedState: Its rows are not what was written.
        """
        ...

    def give_back(self, claim: RunClaim) -> Awaitable[None]:
        """Give up a run that was taken and to which nothing was added: it stands as before.

        That is done, too, where the answer is not awaited.

        Raises:
            RunBusy: Another process took the run.
        """
        ...

    async def renew(self) -> int:
        """Renew the leases of the runs that this process works on; return how many there are."""
        ...

    async def load(self, run_id: str) -> SavedRun:
        """Return the state to execute a run again; raises as `take`, but never `RunBusy`."""
        ...

    async def tail(self, run_id: str, after: int = 0) -> list[Event]:
        """Return the events of a run behind a number.

        Raises:
            RunUnknown: No such run is recorded.
            RecordError: The record is damaged.
        """
        ...

    async def forget(self, run_ids: Iterable[str]) -> int:
        """Delete all rows of some runs; return how many of them had exact state."""
        ...


class HeldLog(RunLog, Protocol):
    """Keeps the rows of a run until it is known whether they have to outlive the process."""

    def rows(self, run_id: str) -> list[LogRow]:
        """Return all rows of a run."""
        ...

    def drop_results(self, run_id: str) -> None:
        """Forget the results of calls; the shown parts stay."""
        ...
