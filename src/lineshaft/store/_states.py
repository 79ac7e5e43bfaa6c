"""What is kept of runs: signed rows in a chain, and who may add to it.

Each row is signed with its place and with the signature of the row before; the run's own row holds
the number of rows, the last signature and what the run waits for, and is signed too. So a row that
was changed, left out, put in or moved is seen.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from sqlite3 import Connection

from lineshaft.errors import RunBusy, RunUnknown, StateExpired, UntrustedState
from lineshaft.store._key import Keys
from lineshaft.store._read_back import Rows, Standing, saved_run
from lineshaft.store._record import EXPIRED, INTERRUPTED, Record, stamp
from lineshaft.store._seals import FORMAT, Seals, changed, check_format
from lineshaft.store._texts import dumped, pause_data, storable
from lineshaft.values import Event, KeptPause, KeptRun, SavedRun


@dataclass(slots=True, kw_only=True)
class Chain:
    """The row of one run whose state is kept."""

    run_id: str
    workspace: str
    format: int
    phase: str
    lock: int
    """Its number: each process that takes the run up has one of its own."""

    count: int
    head: bytes
    pause: bytes
    """Signature of the pause; empty where the run does not wait."""

    seal: bytes
    key_id: str
    changed_at: str
    expires_at: str | None

    def sealed(self, seals: Seals) -> bytes:
        """Return the signature that it should bear."""
        standing = (self.phase, self.count, self.head, self.pause, self.expires_at or "")
        return seals.sign("seal", self.run_id, self.workspace, *standing)


class States:
    """Reads and writes what is kept, in a transaction.

    Args:
        connection: In a transaction.
        record: The record, in the same transaction.
        keys: Find the key.
        keep_days: How long states stay after a run is over.
        now: The time of the transaction.
    """

    def __init__(
        self,
        connection: Connection,
        record: Record,
        *,
        keys: Keys,
        keep_days: float,
        now: datetime,
    ) -> None:
        self._connection = connection
        self._record = record
        self._keys = keys
        self._keep = timedelta(days=keep_days)
        self._now = now
        self._chains: dict[str, Chain] = {}
        self._begun: set[str] = set()
        """Those of them that have no row yet."""

        self.written = 0

    def begin(self, run: KeptRun) -> int:
        """Begin to keep a run; return the number of its process's lock on it.

        Raises:
            RunBusy: There is such a run.
        """
        seals = self._keys.made()
        if self._row(run.run_id) is not None:
            raise RunBusy(f"the state of run {run.run_id!r} is kept already")
        data = dumped({"workspace": run.workspace, "document": run.document})
        chain = Chain(
            run_id=run.run_id,
            workspace=storable(run.workspace),
            format=FORMAT,
            phase="running",
            lock=1,
            count=0,
            head=b"",
            pause=b"",
            seal=b"",
            key_id=seals.id,
            changed_at="",
            expires_at=None,
        )
        self._record.open(run.run_id, run.workspace)
        self._begun.add(run.run_id)
        self._chains[run.run_id] = chain
        self._add(chain, seals, "run", data)
        return chain.lock

    def append(self, run_id: str, lock: int, part: str, data: bytes) -> int:
        """Add a row to a run that goes on; return its ordinal.

        Raises:
            RunBusy: The run is no longer this process's.
        """
        chain, seals = self._own(run_id, lock)
        self._drop_pause(chain)
        return self._add(chain, seals, part, data)

    def pause(self, run_id: str, lock: int, pause: KeptPause) -> None:
        """Keep where a run stands, and let go of it."""
        chain, seals = self._own(run_id, lock)
        self._drop_pause(chain)
        blobs: dict[str, str] = {}
        for ordinal, (name, blob) in enumerate(pause.blobs.items()):
            row, mac = seals.wrap(blob, run_id, "blob", ordinal, b"")
            blobs[name] = mac.hex()
            self._insert(run_id, "blob", ordinal, row)
        data = dumped(pause_data(pause, blobs))
        row, chain.pause = seals.wrap(data, run_id, "pause", 0, chain.head)
        self._insert(run_id, "pause", 0, row)
        chain.phase, chain.expires_at = "paused", _normal(pause.expires_at)
        tools = (each.tool for each in pause.pending)
        self._record.waits(run_id, tools=tools, expires_at=pause.expires_at or None)

    def over(
        self, run_id: str, lock: int, *, replayable: bool, end: Mapping[str, object] | None
    ) -> None:
        """Keep no more of a run than a replay needs."""
        chain, seals = self._own(run_id, lock)
        if not replayable:
            self._end(chain, "over")
            return
        data = dumped({"end": end})
        self._drop_pause(chain)
        self._add(chain, seals, "end", data)
        chain.phase, chain.expires_at = "over", None

    def take(self, run_id: str) -> tuple[SavedRun, int]:
        """Take a run that waits, or whose host died, for this process.

        Raises:
            RunUnknown: Nothing is kept of it.
            RunBusy: A living process works on it, or it is over.
            StateExpired: It was kept for a time that is over.
            UntrustedState: It is not what was kept, or the key is missing.
        """
        self.look_after()
        chain = self._kept(run_id)
        if chain.phase == "running":
            owner = self._record.owner(run_id)
            if owner is not None:
                raise RunBusy(
                    f"run {run_id!r} goes on: process {owner.pid} works on it",
                    hint="wait for it, or end that process",
                )
        if chain.phase == "over" or self._record.has_ended(run_id):
            raise RunBusy(f"run {run_id!r} is over", hint=f"lineshaft show {run_id}")
        self._record.end(run_id, self.ends(run_id))
        saved = self._saved(chain)
        chain.phase, chain.expires_at = "running", None
        chain.lock += 1
        self._chains[run_id] = chain
        self._record.take(run_id)
        return saved, chain.lock

    def load(self, run_id: str) -> SavedRun:
        """Return all that is kept of a run, for a replay; raises as `take` does."""
        chain = self._kept(run_id)
        if chain.phase == "over" and not chain.count:
            raise RunUnknown(f"nothing of run {run_id!r} was kept for a replay")
        return self._saved(chain)

    def cancel(self, run_id: str) -> None:
        """End a run that waits, or whose host died.

        Raises:
            RunBusy: A living process works on it, or it is over.
        """
        _, lock = self.take(run_id)
        chain, _ = self._own(run_id, lock)
        self._end(chain, "over")
        if (row := self._record.row(run_id)) is not None:
            error = _error("E_CANCELLED", "the run was cancelled while it waited")
            end = self._record.end_of(row, "cancelled", error, at=stamp(self._now))
            self._record.end(run_id, [end])

    def look_after(self) -> int:
        """Note which hosts died and which pauses are over; return how many states went."""
        self.settle()
        expired = [chain for chain in self._chains_due() if self._is_due(chain)]
        for run_id in {*self._record.orphans(), *(chain.run_id for chain in expired)}:
            self._record.end(run_id, self.ends(run_id))
        for chain in expired:
            self._expire(chain)
        return len(expired)

    def ends(self, run_id: str) -> list[Event]:
        """Return the ends that the record of a run lacks: its host died, or nobody answered it."""
        row, chain = self._record.row(run_id), self._row(run_id)
        if row is None:
            return []
        waits = chain is not None and chain.phase == "paused"
        died = row["status"] is None and not self._record.is_held(row)
        if died and not waits:
            hint = "run the script anew" if chain is None else f"lineshaft resume {run_id}"
            error = _error(INTERRUPTED, "the process that ran it died before its end", hint)
            return [self._record.end_of(row, "error", error, at=row["last_at"])]
        ends = [self._record.pause_of(row)] if died else []
        if chain is not None and waits and self._is_due(chain):
            until = str(chain.expires_at)
            error = _error(EXPIRED, f"nobody answered until {until}, and the run ended")
            pause = ends[0] if ends else None
            ends.append(self._record.end_of(row, "cancelled", error, at=until, pause=pause))
        return ends

    def forget(self, run_ids: list[str]) -> int:
        """Delete all that is kept of some runs; return of how many something was."""
        found = 0
        for run_id in run_ids:
            row = self._row(run_id)
            found += row is not None and row.phase != "expired"
            self._connection.execute(_DROP, (run_id,))
            self._connection.execute("DELETE FROM states WHERE run_id = ?", (run_id,))
        return found

    def settle(self) -> None:
        """Write the rows of the runs that were added to."""
        for chain in self._chains.values():
            chain.changed_at = stamp(self._now)
            chain.seal = chain.sealed(self._keys.made())
            if chain.run_id in self._begun:
                self._connection.execute(_BEGIN, asdict(chain))
            else:
                self._put(chain)
        self._chains.clear()
        self._begun.clear()

    def _row(self, run_id: str) -> Chain | None:
        if run_id in self._chains:
            return self._chains[run_id]
        row = self._connection.execute(_CHAIN_OF, (run_id,)).fetchone()
        return None if row is None else Chain(**row)

    def _kept(self, run_id: str) -> Chain:
        chain = self._row(run_id)
        if chain is None:
            raise RunUnknown(
                f"nothing of run {run_id!r} was kept",
                hint="`lineshaft runs` lists the runs; one that only read keeps nothing",
            )
        if chain.phase == "expired" or self._is_due(chain):
            raise StateExpired(
                f"the state of run {run_id!r} was kept until {self._until(chain)}",
                hint="run the script anew; the record is still there: lineshaft show",
            )
        return chain

    def _own(self, run_id: str, lock: int) -> tuple[Chain, Seals]:
        """Return the row of a run that this process may add to."""
        chain = self._row(run_id)
        if chain is None or chain.lock != lock or chain.phase != "running":
            raise RunBusy(f"run {run_id!r} is no longer this process's: somebody else took it")
        seals = self._trusted(chain)
        self._chains[run_id] = chain
        return chain, seals

    def _trusted(self, chain: Chain) -> Seals:
        """Check a run's own row, unless that was done or it was made in this transaction."""
        if chain.run_id in self._chains:
            return self._keys.made()
        check_format(chain.format)
        seals = self._keys.found()
        if chain.key_id != seals.id:
            raise UntrustedState(
                "the state of this run was signed with another key, or was changed",
                hint="put back the key that was in use when it began",
            )
        if chain.seal != chain.sealed(seals):
            raise changed()
        return seals

    def _saved(self, chain: Chain) -> SavedRun:
        seals = self._trusted(chain)
        found = self._connection.execute(_ROWS_OF, (chain.run_id,))
        rows: Rows = {(part, ordinal): body for part, ordinal, body in found}
        row = self._record.row(chain.run_id)
        standing = Standing(
            run_id=chain.run_id, count=chain.count, head=chain.head, pause=chain.pause
        )
        return saved_run(rows, seals, standing, last_seq=0 if row is None else row["last_seq"])

    def _add(self, chain: Chain, seals: Seals, part: str, data: bytes) -> int:
        ordinal = chain.count
        row, chain.head = seals.wrap(data, chain.run_id, part, ordinal, chain.head)
        self._insert(chain.run_id, part, ordinal, row)
        chain.count += 1
        return ordinal

    def _insert(self, run_id: str, part: str, ordinal: int, body: bytes) -> None:
        self.written += len(body)
        self._connection.execute(_INSERT, (run_id, part, ordinal, body))

    def _put(self, chain: Chain) -> None:
        self._connection.execute(_UPDATE, asdict(chain))

    def _drop_pause(self, chain: Chain) -> None:
        if chain.pause:
            self._connection.execute(_DROP_PAUSE, (chain.run_id,))
            chain.pause = b""

    def _end(self, chain: Chain, phase: str) -> None:
        """Delete all rows of a run."""
        self._connection.execute(_DROP, (chain.run_id,))
        chain.phase, chain.count = phase, 0
        chain.head = chain.pause = b""
        chain.expires_at = None

    def _chains_due(self) -> list[Chain]:
        """Return the runs that may be due, as their own rows say."""
        times = {"now": stamp(self._now), "late": stamp(self._now - self._keep)}
        return [Chain(**row) for row in self._connection.execute(_DUE, times)]

    def _is_due(self, chain: Chain) -> bool:
        if chain.phase == "paused":
            return chain.expires_at is not None and chain.expires_at <= stamp(self._now)
        if chain.changed_at > stamp(self._now - self._keep):
            return False
        return chain.phase == "over" or self._record.owner(chain.run_id) is None

    def _until(self, chain: Chain) -> str:
        """Return until when a state is, or was, kept."""
        if chain.phase == "expired":
            return chain.changed_at
        if chain.phase == "paused" and chain.expires_at:
            return chain.expires_at
        return stamp(datetime.fromisoformat(chain.changed_at) + self._keep)

    def _expire(self, chain: Chain) -> None:
        """Delete what was kept, and keep when that was due."""
        until = self._until(chain)
        self._end(chain, "expired")
        chain.changed_at = until
        self._put(chain)


def _error(code: str, message: str, hint: str = "") -> dict[str, object]:
    return {"code": code, "message": message, "hint": hint}


# Signatures are read as bytes, also where something else put text there.
_CHAINS = """
SELECT run_id, workspace, format, phase, claim AS lock, count, CAST(head AS BLOB) AS head,
    CAST(pause AS BLOB) AS pause, CAST(seal AS BLOB) AS seal, key_id, changed_at, expires_at
FROM states
"""
_CHAIN_OF = f"{_CHAINS} WHERE run_id = ?"
_DUE = f"""{_CHAINS}
WHERE phase = 'paused' AND expires_at <= :now
    OR phase IN ('over', 'running') AND changed_at <= :late
"""
_BEGIN = """
INSERT INTO states (run_id, workspace, format, phase, claim, count, head, pause, seal, key_id,
    changed_at, expires_at)
VALUES (:run_id, :workspace, :format, :phase, :lock, :count, :head, :pause, :seal, :key_id,
    :changed_at, :expires_at)
"""
_UPDATE = """
UPDATE states SET workspace = :workspace, format = :format, phase = :phase, claim = :lock,
    count = :count, head = :head, pause = :pause, seal = :seal, key_id = :key_id,
    changed_at = :changed_at, expires_at = :expires_at
WHERE run_id = :run_id
"""
_INSERT = "INSERT INTO state_rows (run_id, part, ordinal, body) VALUES (?, ?, ?, ?)"
_DROP = "DELETE FROM state_rows WHERE run_id = ?"
_DROP_PAUSE = f"{_DROP} AND part IN ('pause', 'blob')"
_ROWS_OF = "SELECT part, ordinal, CAST(body AS BLOB) FROM state_rows WHERE run_id = ?"


def _normal(at: str) -> str | None:
    """Return a time as the store writes it, so that times can be compared as texts."""
    if not at:
        return None
    moment = datetime.fromisoformat(at)
    return stamp(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
