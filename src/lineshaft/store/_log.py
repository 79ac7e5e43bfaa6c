"""The log of runs in one transaction: rows in a signed chain, and the owners of runs.

Each row is signed with its place and with the signature of the row before; the run's own row holds
the number of rows, the last signature and the run's phase, and is signed too. So a row that was
changed, left out, put in or moved is detected.
"""

import hashlib
import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from sqlite3 import Connection
from typing import cast

from msgspec.structs import asdict, replace

from lineshaft.errors import (
    RecordError,
    RunBusy,
    RunUnknown,
    StateError,
    StateExpired,
    UntrustedState,
)
from lineshaft.store._checks import damaged_event, damaged_run, is_place, is_whole
from lineshaft.store._fold import fold
from lineshaft.store._json import UNFIT, dumped, loaded, shown, storable
from lineshaft.store._key import Keys
from lineshaft.store._owner import Owner
from lineshaft.store._schema import NOW
from lineshaft.store._seals import FORMAT, Seals, changed, check_format, pack, unpack
from lineshaft.values import (
    Event,
    EventKind,
    LogRow,
    RowKind,
    RunClaim,
    SavedRun,
    Shown,
    Struct,
    pause_data,
)

Data = Mapping[str, object]
Facts = dict[str, object]

INTERRUPTED = "E_INTERRUPTED"
EXPIRED = "E_EXPIRED"
LEASE_SECONDS = 30
"""A run is its owner's for so long after the owner renewed its lease."""

_GONE_SECONDS = 86_400
"""An owner that did not renew a lease for so long will not come back."""

_BLOB_BYTES = 1_000_000
_OPEN = ("recorded", "running")
"""Phases in which rows are added."""


class Step(Struct, frozen=True, kw_only=True):
    """A row as the tables take it."""

    __unshown__ = frozenset({"exact", "facts", "blobs"})

    kind: RowKind
    at: str
    call_id: str | None
    container: str | None
    event_seq: int
    events: tuple[Shown, ...]
    shown: str | None
    exact: bytes | None
    facts: Data | None
    """Of a checkpoint and an end, the fields that its run's own row takes from it."""

    blobs: Mapping[str, bytes]
    """By their hashes."""

    size: int
    """About how many bytes it has."""


def step_of(row: LogRow) -> Step:
    """Return a row as the tables take it.

    Raises:
        StateError: The exact part is no JSON.
        ValueError, TypeError, RecursionError: The shown part is none.
    """
    exact, blobs = row.exact, dict[str, bytes]()
    if exact is not None and row.kind == "checkpoint":
        hashes = {name: hashlib.sha256(blob).hexdigest() for name, blob in row.blobs.items()}
        blobs = {hashes[name]: blob for name, blob in row.blobs.items()}
        exact = {**exact, "blobs": hashes}
    told = shown(row.shown) if row.shown else None
    data = None if exact is None else dumped(exact)
    return Step(
        kind=row.kind,
        at=row.at,
        call_id=row.call_id and storable(row.call_id),
        container=row.container and storable(row.container),
        event_seq=row.event_seq,
        events=row.shown,
        shown=told,
        exact=data,
        facts=row.exact if row.kind in ("checkpoint", "end") else None,
        blobs=blobs,
        size=500 + len(told or "") + len(data or b"") + sum(map(len, blobs.values())),
    )


class RunRow(Struct, kw_only=True):
    """A run's own row."""

    id: str
    workspace: str
    format: int = FORMAT
    phase: str = "recorded"
    status: str | None = None
    code: str = ""
    name: str = ""
    engine: str = ""
    origin: str = ""
    started_at: str
    last_at: str
    seq: int = 0
    event_seq: int = 0
    duration_ms: float = 0
    waiting: str = "[]"
    expires_at: str | None = None
    """As it is shown."""

    lease_no: int = 1
    lease_until: float
    owner_pid: int
    owner_mark: str
    head: bytes = b""
    """Signature of the last row."""

    seal: bytes = b""
    key_id: str = ""
    exact_bytes: int = 0
    keep_until: str | None = None
    """Time at which the exact part is deleted; None: never."""

    def sealed(self, seals: Seals) -> bytes:
        """Return the signature that it should bear."""
        standing = (self.phase, self.seq, self.head, self.keep_until or "")
        return seals.sign("seal", self.id, self.workspace, *standing)

    @property
    def owner(self) -> Owner:
        """The process that works on it, or did."""
        return Owner(self.owner_pid, self.owner_mark)

    @property
    def is_over(self) -> bool:
        """Whether its record has an end."""
        return self.status not in (None, "paused")

    def show(self, events: Iterable[Shown]) -> None:
        """Take over the facts about the run in its events."""
        for kind, data in events:
            for name, value in told_by(kind, data).items():
                setattr(self, name, value)


class Log:
    """The actions of a transaction on the log of runs.

    Args:
        connection: In a transaction.
        keys: Find the key that signs rows.
        keep_days: How long exact rows stay after a run is over.
        now: The time of the transaction.
        owner: This process.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        keys: Keys,
        keep_days: float,
        now: datetime,
        owner: Owner,
    ) -> None:
        self._connection = connection
        self._keys = keys
        self._keep = timedelta(days=keep_days)
        self._now = now
        self._owner = owner
        self._runs: dict[str, RunRow] = {}
        """Those that were changed, and are written at the end of the transaction."""

        self.written = 0
        """About how many bytes were written."""

    def append(self, claim: RunClaim, steps: Sequence[Step]) -> None:
        """Add rows to a run of this process.

        Raises:
            RunBusy: It is no longer this process's.
        """
        self._keys.made()  # a run that cannot be signed is not begun
        run = self._claimed(claim, steps[0].at)
        for step in steps:
            if step.event_seq and step.exact is None and step.event_seq <= run.event_seq:
                continue  # it was appended twice
            self._append(run, step)

    def _append(self, run: RunRow, step: Step) -> None:
        if step.kind == "begin" and step.exact is not None:
            if run.phase != "recorded":
                raise RunBusy(f"the state of run {run.id!r} is kept already")
            self.look_after()
            self._runs[run.id] = run
            run.phase = "running"
        self._insert(run, step)
        run.show(step.events)
        if run.phase != "recorded" and step.facts is not None:
            if step.kind == "checkpoint":
                self._pause(run, step.facts, step.blobs)
            elif step.facts:
                run.phase = "over"
            else:
                self._drop(run, "over")

    def _insert(self, run: RunRow, step: Step) -> None:
        seals = self._keys.made()
        run.seq += 1
        run.last_at = step.at
        if step.events:
            run.event_seq = step.event_seq + len(step.events) - 1
        exact = None if step.exact is None else pack(step.exact)
        place = (run.id, run.seq, step.at, step.kind, step.call_id or "", step.container or "")
        run.head = _sign(seals, place, step.event_seq, step.shown, exact, run.head)
        self._connection.execute(
            _INSERT,
            (
                *place[:4],
                step.call_id,
                step.container,
                step.event_seq,
                step.shown,
                exact,
                run.head,
            ),
        )
        size = len(exact or b"")
        run.exact_bytes += size
        self.written += size + len(step.shown or "") + 150

    def _claimed(self, claim: RunClaim, at: str) -> RunRow:
        """Return the row of a run that this process may add to."""
        run = self._row(claim.run_id)
        if run is None and claim.lease_no == 1:
            run = self._runs[claim.run_id] = RunRow(
                id=claim.run_id,
                workspace=storable(claim.workspace),
                started_at=at,
                last_at=at,
                lease_until=self._clock() + LEASE_SECONDS,
                owner_pid=self._owner.pid,
                owner_mark=self._owner.mark,
            )
            return run
        mine = run is not None and run.lease_no == claim.lease_no and run.phase in _OPEN
        if run is None or not mine or run.owner != self._owner:
            raise RunBusy(
                f"run {claim.run_id!r} is no longer this process's: another process took it"
            )
        self._trusted(run)
        self._runs[run.id] = run
        return run

    def _pause(self, run: RunRow, facts: Data, blobs: Mapping[str, bytes]) -> None:
        self._connection.execute(_DROP_BLOBS, (run.id,))
        for sha256, blob in blobs.items():
            parts = range(0, max(len(blob), 1), _BLOB_BYTES)
            for part, start in enumerate(parts):
                data = zlib.compress(blob[start : start + _BLOB_BYTES], 1)
                self._connection.execute(_INSERT_BLOB, (run.id, sha256, part, data))
                self.written += len(data)
        _wait(run, facts)

    def take(self, run_id: str) -> tuple[SavedRun, RunClaim]:
        """Take a run that waits, or whose host died, for this process.

        Raises:
            RunUnknown: No state of it is kept.
            RunBusy: A living process works on it, or it is over.
            StateExpired: The time for which it was kept is over.
            UntrustedState: It differs from what was kept, or the key is missing.
        """
        self.look_after()
        run = self._kept(run_id)
        if run.phase == "running" and not run.is_over and self.is_held(run):
            raise RunBusy(
                f"run {run_id!r} goes on: process {run.owner_pid} works on it",
                hint="wait for it, or end that process",
            )
        if run.phase == "over" or (run.is_over and run.code != INTERRUPTED):
            raise RunBusy(f"run {run_id!r} is over", hint=f"`lineshaft show {run_id}`")
        self._trusted(run)
        self._runs[run_id] = run
        self._add_ends(run)
        saved = self._saved(run)
        run.phase, run.status, run.code, run.waiting = "running", None, "", "[]"
        run.expires_at = None
        run.lease_no += 1
        run.owner_pid, run.owner_mark = self._owner.pid, self._owner.mark
        run.lease_until = self._clock() + LEASE_SECONDS
        return saved, RunClaim(run_id=run_id, workspace=run.workspace, lease_no=run.lease_no)

    def give_back(self, claim: RunClaim) -> None:
        """Let a run that was taken, and to which nothing was added, stand as before.

        Raises:
            RunBusy: It is no longer this process's.
        """
        run = self._claimed(claim, stamp(self._now))
        pause = self._saved(run).pause
        run.lease_no += 1
        if pause is None:
            run.status, run.code = "error", INTERRUPTED
        else:
            run.status = "paused"
            _wait(run, pause_data(pause))

    def load(self, run_id: str) -> SavedRun:
        """Return the kept state of a run, for a replay; raises as `take` does."""
        run = self._kept(run_id)
        if run.phase == "over" and not run.exact_bytes:
            raise RunUnknown(
                f"run {run_id!r} is over, and nothing of it was kept to replay or go on with"
            )
        self._trusted(run)
        return self._saved(run)

    def cancel(self, run_id: str) -> None:
        """End a run that waits, or whose host died.

        Raises:
            RunBusy: A living process works on it, or it is over.
        """
        self.take(run_id)
        run = self._runs[run_id]
        error = _error("E_CANCELLED", "the run was cancelled while it waited")
        self._end(run, self._end_of(run, "cancelled", error, at=stamp(self._now)))
        self._drop(run, "over")

    def look_after(self) -> int:
        """Note which hosts died and which pauses are over; return how many states went."""
        self.settle()
        expired = [run for run in self._select(_DUE, stamp(self._now)) if self._is_due(run)]
        for run in {run.id: run for run in (*self._orphans(), *expired)}.values():
            self._runs[run.id] = run
            self._add_ends(run)
        for due in expired:
            self._drop(self._runs[due.id], "expired")
        return len(expired)

    def ends(self, run: RunRow) -> list[Event]:
        """Return the ends that the record of a run lacks: its host died, or no answer came."""
        waits = run.phase == "paused"
        died = run.status is None and not self.is_held(run)
        if died and not waits:
            keeps = run.phase == "running"
            hint = f"`lineshaft resume {run.id}`" if keeps else "run the script anew"
            error = _error(INTERRUPTED, "the process that ran it died before its end", hint)
            return [self._end_of(run, "error", error, at=run.last_at)]
        ends = [self._pause_of(run)] if died else []
        if waits and self._is_due(run):
            until = str(run.keep_until)
            error = _error(EXPIRED, f"no answer came until {until}, and the run ended")
            pause = ends[0] if ends else None
            ends.append(self._end_of(run, "cancelled", error, at=until, pause=pause))
        return ends

    def row(self, run_id: str) -> RunRow | None:
        """Return a run's own row."""
        return self._row(run_id)

    def select(self, which: str, values: Mapping[str, object]) -> list[RunRow | str]:
        """Return the rows of runs that a condition holds for; of a damaged one, only its id."""
        found = self._connection.execute(f"{_RUNS} {which}", values)
        return [RunRow(**row) if is_whole(row) else str(row["id"]) for row in found]

    def events(self, run_id: str, after: int = 0) -> list[Event]:
        """Return the events of a run that are recorded, in order.

        Args:
            run_id: The run.
            after: The number of the last one that is not wanted.

        Raises:
            RunUnknown: There is no such run.
            RecordError: The record is damaged.
        """
        run = self._row(run_id)
        if run is None:
            raise RunUnknown(
                f"no recorded run is called {run_id!r}", hint="`lineshaft runs` lists them"
            )
        found: list[Event] = []
        for seq, at, call_id, told in self._connection.execute(_SHOWN, (run_id,)):
            if not is_place(seq, at, call_id):
                raise damaged_event(run_id, seq)
            events = _events(told, run_id, seq)
            row = LogRow(kind="log", at=at, call_id=call_id, event_seq=seq, shown=events)
            found += (event for event in row.events(run_id) if event.seq > after)
        return found

    def renew(self) -> int:
        """Renew the leases of all runs that this process works on; return how many there are."""
        mine = (self._owner.pid, self._owner.mark)
        return self._connection.execute(_RENEW, mine).rowcount

    def older(self, at: datetime) -> list[str]:
        """Return the runs that are over and had their last event before a time."""
        return [run_id for (run_id,) in self._connection.execute(_OVER_BEFORE, (stamp(at),))]

    def forget(self, run_ids: Iterable[str]) -> int:
        """Delete all rows of some runs; return how many of them had exact state."""
        found = 0
        for run_id in run_ids:
            self._runs.pop(run_id, None)
            found += self._connection.execute(_HAS_STATE, (run_id,)).fetchone() is not None
            for statement in (_DROP_BLOBS, _DROP_LOG, _DROP_RUN):
                self._connection.execute(statement, (run_id,))
        return found

    def is_held(self, run: RunRow) -> bool:
        """Return whether a run is its owner's: another process may not take it.

        A lease that has ended still counts for its owner; a proven death ends a lease.
        """
        if run.owner == self._owner:
            return True
        return not run.owner.has_died and self._clock() < run.lease_until

    def settle(self) -> None:
        """Write the rows of the runs that were changed."""
        if not self._runs:
            return
        seals = self._keys.made()
        for run in self._runs.values():
            if run.phase == "paused":
                run.keep_until = _normal(run.expires_at or "")
            elif run.phase in ("running", "over"):
                run.keep_until = stamp(self._now + self._keep)
            run.key_id = seals.id
            run.seal = run.sealed(seals)
            self._connection.execute(_PUT, asdict(run))
        self._runs.clear()

    def _row(self, run_id: str) -> RunRow | None:
        if run_id in self._runs:
            return self._runs[run_id]
        found = self._connection.execute(f"{_RUNS} WHERE id = ?", (run_id,)).fetchone()
        if found is None:
            return None
        if not is_whole(found):
            raise damaged_run(run_id)
        return RunRow(**found)

    def _select(self, which: str, *values: object) -> list[RunRow]:
        """Return the rows of runs that a condition holds for; damaged ones stay as they are."""
        found = self._connection.execute(f"{_RUNS} {which}", values)
        return [RunRow(**row) for row in found if is_whole(row)]

    def _kept(self, run_id: str) -> RunRow:
        run = self._row(run_id)
        if run is None or run.phase == "recorded":
            raise RunUnknown(
                f"nothing of run {run_id!r} was kept",
                hint="`lineshaft runs` lists the runs; one that only read keeps nothing",
            )
        if run.phase == "older":
            raise StateError(
                f"run {run_id!r} was begun by an earlier version of Lineshaft, whose states this"
                " one does not go on with",
                hint="show and undo it, or run the script anew",
            )
        if run.phase == "expired" or self._is_due(run):
            raise StateExpired(
                f"the state of run {run_id!r} was kept until {run.keep_until}",
                hint=f"run the script anew; the record is still there: `lineshaft show {run_id}`",
            )
        return run

    def _trusted(self, run: RunRow) -> None:
        """Check a run's own row, unless that was done or it was made in this transaction."""
        if run.id in self._runs:
            return
        check_format(run.format)
        seals = self._keys.found()
        if run.key_id != seals.id:
            raise UntrustedState(
                "the state of this run was signed with another key, or was changed",
                hint="put back the key that was in use when it began",
            )
        if run.seal != run.sealed(seals):
            raise changed()

    def _saved(self, run: RunRow) -> SavedRun:
        rows = self._checked(run, self._keys.found())
        return fold(run.id, rows, last_seq=run.event_seq)

    def _checked(self, run: RunRow, seals: Seals) -> list[LogRow]:
        """Return the exact rows of a run; the last checkpoint has its blobs.

        Raises:
            UntrustedState: They are not the rows that were written.
        """
        before, rows, checkpoint = b"", list[LogRow](), None
        for number, found in enumerate(self._connection.execute(_ROWS, (run.id,)), 1):
            seq, at, kind, call_id, container, event_seq, told, exact, mac = found
            if exact:
                check_format(exact[0])
            place = (run.id, number, at, kind, call_id or "", container or "")
            expected = _sign(seals, place, event_seq, told, exact, before)
            if seq != number or mac != expected:
                raise changed()
            before = mac
            if exact is None:
                continue
            data = loaded(unpack(exact))
            if kind == "checkpoint":
                checkpoint = len(rows)
            rows.append(LogRow(kind=kind, at=at, call_id=call_id, container=container, exact=data))
        if before != run.head or len(rows) == 0:
            raise changed()
        if checkpoint is not None:
            last = rows[checkpoint]
            rows[checkpoint] = replace(last, blobs=self._blobs(run.id, last.exact or {}))
        return rows

    def _blobs(self, run_id: str, exact: Data) -> dict[str, bytes]:
        parts: dict[str, bytearray] = {}
        for sha256, data in self._connection.execute(_BLOBS, (run_id,)):
            try:
                parts.setdefault(sha256, bytearray()).extend(zlib.decompress(data))
            except (zlib.error, TypeError):  # a NULL is no bytes
                raise changed() from None
        blobs: dict[str, bytes] = {}
        for name, sha256 in cast("dict[str, str]", exact["blobs"]).items():
            blobs[name] = bytes(parts.get(sha256, b"missing"))
            if hashlib.sha256(blobs[name]).hexdigest() != sha256:
                raise changed()
        return blobs

    def _add_ends(self, run: RunRow) -> None:
        for event in self.ends(run):
            self._end(run, event)

    def _end(self, run: RunRow, event: Event) -> None:
        """Add an end that the record lacks; the exact parts stay."""
        row = LogRow(
            kind="end", at=event.at, event_seq=event.seq, shown=((event.kind, event.data),)
        )
        step = step_of(row)
        self._insert(run, step)
        run.show(step.events)

    def _drop(self, run: RunRow, phase: str) -> None:
        """Delete the exact parts of a run, and its signatures, which covered them."""
        self._connection.execute(_DROP_EXACT, (run.id,))
        self._connection.execute(_DROP_BLOBS, (run.id,))
        run.phase, run.exact_bytes, run.head = phase, 0, b""

    def _orphans(self) -> list[RunRow]:
        """Return the runs without a recorded end whose process is gone for good.

        An ended lease is not enough: its owner may renew it until another process takes the run.
        Nor is one that ended long ago where the owner lives: the machine slept, or its clock went
        ahead.
        """
        late = self._clock() - _GONE_SECONDS
        return [
            run
            for run in self._select("WHERE status IS NULL")
            if not self.is_held(run)
            and (run.owner.has_died or (run.lease_until < late and not run.owner.is_here))
        ]

    def _is_due(self, run: RunRow) -> bool:
        if run.keep_until is None or run.keep_until > stamp(self._now):
            return False
        lives = self.is_held(run) or run.owner.is_here
        goes_on = run.phase == "running" and not run.is_over and lives
        return run.phase in ("paused", "over", "running") and not goes_on

    def _pause_of(self, run: RunRow) -> Event:
        """Return the end of a record whose host died when its run waited already."""
        tools = cast("list[str]", json.loads(run.waiting))
        nothing: Facts = {}
        waiting = [{"id": "", "tool": t, "arguments": nothing, "reason": ""} for t in tools]
        told = self._told_last(run)
        told |= {"status": "paused", "pending": waiting, "expires_at": run.expires_at}
        return _after(run, "run_paused", told, at=run.last_at)

    def _end_of(
        self, run: RunRow, status: str, error: Facts, *, at: str, pause: Event | None = None
    ) -> Event:
        """Return the end that a record lacks.

        Args:
            run: The run.
            status: Its status.
            error: The reason.
            at: The time.
            pause: The row of its pause, where the record lacks it too.
        """
        told = self._told_last(run) if pause is None else {**pause.data}
        told |= {"status": status, "error": error, "pending": [], "expires_at": None}
        end = _after(run, "run_finished", told, at=at)
        return end if pause is None else replace(end, seq=pause.seq + 1)

    def _told_last(self, run: RunRow) -> Facts:
        """Return the data of the last pause in a record, or the facts known without one."""
        since = datetime.fromisoformat(run.last_at) - datetime.fromisoformat(run.started_at)
        told: Facts = {
            "engine": run.engine,
            "duration_ms": since.total_seconds() * 1000,
            "landed": False,
        }
        for (text,) in self._connection.execute(_LAST_PAUSE, (run.id,)):
            with suppress(RecordError, *UNFIT, AttributeError):  # one that is damaged tells nothing
                for kind, data in _events(text, run.id, 0):
                    if kind == "run_paused":
                        _of_end(data)
                        told |= data
        return told

    def _clock(self) -> float:
        """Return the time by the database's clock, which all processes share."""
        return self._connection.execute(f"SELECT {NOW}").fetchone()[0]


_COLUMNS = RunRow.__struct_fields__
# Signatures are read as bytes, also where another program put text there.
_READ = [
    f"CAST({name} AS BLOB) AS {name}" if name in ("head", "seal") else name for name in _COLUMNS
]
_RUNS = f"SELECT {', '.join(_READ)} FROM runs"  # noqa: S608  names of our own
_PUT = f"REPLACE INTO runs ({', '.join(_COLUMNS)}) VALUES (:{', :'.join(_COLUMNS)})"  # noqa: S608  names of our own
_DUE = "WHERE phase IN ('paused', 'over', 'running') AND keep_until <= ?"
_INSERT = """
INSERT INTO log (run, seq, at, kind, call_id, container, event_seq, shown, exact, mac)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_ROWS = """
SELECT seq, at, kind, call_id, container, event_seq, shown, CAST(exact AS BLOB), CAST(mac AS BLOB)
FROM log WHERE run = ? ORDER BY seq
"""
_SHOWN = """
SELECT event_seq, at, call_id, shown FROM log WHERE run = ? AND shown IS NOT NULL ORDER BY seq
"""
_LAST_PAUSE = """
SELECT shown FROM log WHERE run = ? AND kind = 'checkpoint' AND shown IS NOT NULL
ORDER BY seq DESC LIMIT 1
"""
_INSERT_BLOB = "INSERT INTO blobs (run, sha256, part, data) VALUES (?, ?, ?, ?)"
_BLOBS = "SELECT sha256, CAST(data AS BLOB) FROM blobs WHERE run = ? ORDER BY sha256, part"
_DROP_BLOBS = "DELETE FROM blobs WHERE run = ?"
_DROP_EXACT = "UPDATE log SET exact = NULL, mac = x'' WHERE run = ?"
_DROP_LOG = "DELETE FROM log WHERE run = ?"
_DROP_RUN = "DELETE FROM runs WHERE id = ?"
_RENEW = (
    f"UPDATE runs SET lease_until = {NOW} + {LEASE_SECONDS}"  # noqa: S608  text of our own
    " WHERE status IS NULL AND owner_pid = ? AND owner_mark = ?"
)
_HAS_STATE = "SELECT 1 FROM runs WHERE id = ? AND phase IN ('running', 'paused', 'over')"
_OVER_BEFORE = """
SELECT id FROM runs WHERE last_at < ? AND status IS NOT NULL AND status != 'paused'
"""


def _wait(run: RunRow, facts: Data) -> None:
    """Have a run wait for the calls of a checkpoint."""
    until = str(facts["expires_at"])
    tools = [str(each["tool"]) for each in cast("list[Data]", facts["pending"])]
    run.phase, run.expires_at, run.waiting = "paused", until or None, shown(tools)


def _sign(
    seals: Seals,
    place: tuple[str, int, str, str, str, str],
    event_seq: int,
    told: str | None,
    exact: bytes | None,
    before: bytes,
) -> bytes:
    """Return the signature of a row."""
    return seals.sign(
        *place, event_seq, 0 if told is None else told, 0 if exact is None else exact, before
    )


def stamp(at: datetime) -> str:
    """Return a time as the log writes it; such texts sort by time."""
    text = at.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _normal(at: str) -> str | None:
    """Return a time as the log writes it, so that times can be compared as texts."""
    if not at:
        return None
    moment = datetime.fromisoformat(at)
    return stamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))


def told_by(kind: EventKind, data: Data) -> Facts:
    """Return the changes of an event to the row of its run."""
    match kind:
        case "run_started":
            return {
                name: storable(str(data.get(name) or "")) for name in ("name", "engine", "origin")
            }
        case "run_resumed":
            return {"status": None, "code": "", "waiting": "[]", "expires_at": None}
        case "run_paused" | "run_finished":
            return _of_end(data)
        case _:
            return {}


def _of_end(data: Data) -> Facts:
    error = cast("Data", data.get("error") or {})
    pending = cast("list[Data]", data.get("pending") or [])
    facts: Facts = {
        "status": storable(str(data.get("status", ""))),
        "code": storable(str(error.get("code", ""))),
        "duration_ms": float(cast("float", data.get("duration_ms") or 0)),
        "waiting": shown([str(each.get("tool", "")) for each in pending]),
        "expires_at": data.get("expires_at") or None,
    }
    return facts | ({"engine": storable(str(data["engine"]))} if data.get("engine") else {})


def _events(text: str, run_id: str, seq: int) -> tuple[Shown, ...]:
    """Return the events of a row.

    Raises:
        RecordError: They cannot be read.
    """
    try:
        events: tuple[Shown, ...] = tuple((kind, data) for kind, data in json.loads(text))
    except (ValueError, TypeError, RecursionError):
        raise damaged_event(run_id, seq) from None
    if not all(isinstance(each, dict) for _, each in events):
        raise damaged_event(run_id, seq)
    return events


def _error(code: str, message: str, hint: str = "") -> Facts:
    return {"code": code, "message": message, "hint": hint}


def _after(run: RunRow, kind: EventKind, data: Facts, *, at: str) -> Event:
    """Return the event that follows the last one of a run."""
    return Event(run_id=run.id, seq=run.event_seq + 1, at=at, kind=kind, data=data)
