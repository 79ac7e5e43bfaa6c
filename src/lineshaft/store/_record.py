"""The record in the store: events, and one row a run that says how it stands."""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from sqlite3 import Connection, Row
from typing import cast

from lineshaft.errors import RecordError, RunUnknown
from lineshaft.store._owner import Owner
from lineshaft.store._summaries import RunSummary
from lineshaft.store._tables import NOW
from lineshaft.store._texts import shown, storable
from lineshaft.values import Event, EventKind

Data = Mapping[str, object]
Facts = dict[str, object]

INTERRUPTED = "E_INTERRUPTED"
EXPIRED = "E_EXPIRED"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LISTED = "lineshaft runs lists them"
LEASE_SECONDS = 30
"""A run is its owner's for so long after the owner renewed its lease."""

_GONE_SECONDS = 86_400
"""An owner that did not renew a lease for so long will not come back."""

_UNDER_WAY = "SELECT run_id, owner_pid, owner_mark, lease_until FROM runs WHERE status IS NULL"
_RENEW = (
    f"UPDATE runs SET lease_until = {NOW} + {LEASE_SECONDS}"  # noqa: S608  text of our own
    " WHERE status IS NULL AND owner_pid = ? AND owner_mark = ?"
)
_ADD_EVENT = """
INSERT INTO events (run_id, seq, at, kind, call_id, data)
VALUES (:run_id, :seq, :at, :kind, :call_id, :data)
ON CONFLICT DO NOTHING
"""
_NEWEST = """
SELECT runs.*, states.phase,
    (
        SELECT count(DISTINCT call_id) FROM events
        WHERE events.run_id = runs.run_id AND kind = 'call_asked'
    ) AS calls
FROM (
    SELECT * FROM runs
    WHERE (:workspace IS NULL OR workspace = :workspace) AND (:run_id IS NULL OR run_id = :run_id)
    ORDER BY last_at DESC, run_id DESC LIMIT :limit
) AS runs LEFT JOIN states ON states.run_id = runs.run_id
ORDER BY runs.last_at DESC, runs.run_id DESC
"""
_OVER_BEFORE = """
SELECT run_id FROM runs WHERE last_at < ? AND status IS NOT NULL AND status != 'paused'
"""


class Record:
    """Reads and writes the record in a transaction.

    Args:
        connection: In a transaction.
        now: The time of the transaction.
        owner: This process.
    """

    def __init__(self, connection: Connection, *, now: datetime, owner: Owner) -> None:
        self._connection = connection
        self.now = now
        self._owner = owner
        self.written = 0

    def add(self, told: Sequence[tuple[str, Event, str]]) -> None:
        """Add events of runs of this process; those that are there stay.

        Events of a run that another process has taken are dropped: that one has the record now, and
        this one hears of it with the next step that it wants to keep.

        Args:
            told: Each with the workspace of its run before it, and its data as text behind it.
        """
        taken = {run_id for run_id in {e.run_id for _, e, _ in told} if self._is_taken(run_id)}
        self._add([each for each in told if each[1].run_id not in taken])

    def _is_taken(self, run_id: str) -> bool:
        row = self.row(run_id)
        return row is not None and Owner(row["owner_pid"], row["owner_mark"]) != self._owner

    def _add(self, told: Sequence[tuple[str, Event, str]]) -> None:
        rows: list[Facts] = []
        runs: dict[str, tuple[str, list[Event]]] = {}
        for workspace, event, data in told:
            self.written += len(data) + 100
            rows.append(
                {
                    "run_id": event.run_id,
                    "seq": event.seq,
                    "at": event.at,
                    "kind": event.kind,
                    "call_id": event.call_id and storable(event.call_id),
                    "data": data,
                }
            )
            runs.setdefault(event.run_id, (workspace, []))[1].append(event)
        self._connection.executemany(_ADD_EVENT, rows)
        for run_id, (workspace, events) in runs.items():
            self._stand(run_id, workspace, events)

    def open(self, run_id: str, workspace: str) -> None:
        """Make the row of a run that this process works on, where it is missing."""
        at = stamp(self.now)
        row: Facts = {"run_id": run_id, "workspace": storable(workspace), "started_at": at}
        row |= {"last_at": at, "last_seq": 0, **self._mine()}
        self._insert(row)

    def take(self, run_id: str) -> None:
        """Say that this process works on a run from now on."""
        facts: Facts = {"status": None, "code": "", "waiting": "[]", "expires_at": None}
        self._change(run_id, facts | self._mine())

    def events(self, run_id: str) -> list[Event]:
        """Return the events of a run that are recorded, in order.

        Raises:
            RunUnknown: There are none.
        """
        of_run = "SELECT * FROM events WHERE run_id = ? ORDER BY seq"
        events = [_event(row) for row in self._connection.execute(of_run, (run_id,))]
        if not events:
            raise RunUnknown(f"no recorded run is called {run_id!r}", hint=_LISTED)
        return events

    def row(self, run_id: str) -> Row | None:
        """Return how a run stands, if anything is known of it."""
        return self._connection.execute("SELECT * FROM runs WHERE run_id = ?", (run_id,)).fetchone()

    def owner(self, run_id: str) -> Owner | None:
        """Return the process that works on a run; None where none does."""
        row = self.row(run_id)
        if row is None or not self.is_held(row):
            return None
        return Owner(row["owner_pid"], row["owner_mark"])

    def is_held(self, row: Row) -> bool:
        """Return whether a run is its owner's: another process may not take it.

        A lease that has ended is still its owner's who looks at it; a proven death ends a lease.
        A run without one was begun by an earlier version, beside this one.
        """
        owner = Owner(row["owner_pid"], row["owner_mark"])
        if owner == self._owner:
            return True
        return not owner.has_died and self._now() < (row["lease_until"] or math.inf)

    def renew(self) -> int:
        """Renew the leases of all runs that this process works on; return how many there are."""
        mine = (self._owner.pid, self._owner.mark)
        return self._connection.execute(_RENEW, mine).rowcount

    def has_ended(self, run_id: str) -> bool:
        """Return whether the record tells an end that the run's own host wrote."""
        row = self.row(run_id)
        return row is not None and _is_over(row) and row["code"] != INTERRUPTED

    def orphans(self) -> list[str]:
        """Return the runs that go on, as their records say, and whose process is gone for good.

        That a lease has ended is not enough: its owner may renew it as long as nobody took the run.
        """
        late = self._now() - _GONE_SECONDS
        return [
            row["run_id"]
            for row in self._connection.execute(_UNDER_WAY).fetchall()
            if not self.is_held(row)
            and (row["lease_until"] < late or Owner(row["owner_pid"], row["owner_mark"]).has_died)
        ]

    def end(self, run_id: str, ends: Sequence[Event]) -> None:
        """Add the ends that a record lacks."""
        row = self.row(run_id)
        if row is not None and ends:
            self._add([(row["workspace"], event, shown(event.data)) for event in ends])

    def pause_of(self, row: Row) -> Event:
        """Return the end of a record whose host died when its run waited already."""
        tools = cast("list[str]", json.loads(row["waiting"]))
        nothing: Facts = {}
        waiting = [{"id": "", "tool": t, "arguments": nothing, "reason": ""} for t in tools]
        told = self._told_last(row)
        told |= {"status": "paused", "pending": waiting, "expires_at": row["expires_at"]}
        return _after(row, "run_paused", told, at=row["last_at"])

    def end_of(
        self, row: Row, status: str, error: Facts, *, at: str, pause: Event | None = None
    ) -> Event:
        """Return the end of a record that nobody wrote.

        Args:
            row: Of the run.
            status: How it ended.
            error: Why.
            at: When.
            pause: That it waits, where the record lacks that, too.
        """
        told = self._told_last(row) if pause is None else {**pause.data}
        told |= {"status": status, "error": error, "pending": [], "expires_at": None}
        end = _after(row, "run_finished", told, at=at)
        return end if pause is None else replace(end, seq=pause.seq + 1)

    def _told_last(self, row: Row) -> Facts:
        """Return what the last pause in a record said, or what is known without one."""
        since = datetime.fromisoformat(row["last_at"]) - datetime.fromisoformat(row["started_at"])
        told: Facts = {
            "engine": row["engine"],
            "duration_ms": since.total_seconds() * 1000,
            "landed": False,
        }
        return told | (self._last(row["run_id"], "run_paused") or {})

    def waits(self, run_id: str, *, tools: Iterable[str], expires_at: str | None) -> None:
        """Say what a run waits for; that it waits is told by an event."""
        self._change(run_id, {"waiting": shown(list(tools)), "expires_at": expires_at})

    def find(self, prefix: str | None, workspace: str | None) -> str:
        """Return the id of a run.

        Args:
            prefix: The id, or its beginning; None: the last run.
            workspace: Where to look first, or None.

        Raises:
            RunUnknown: There is none, or there are several.
        """
        place = None if workspace is None else storable(workspace)
        if prefix is None:
            last = self._ids(place, "", limit=1)
            if not last:
                raise RunUnknown(
                    "no run of this workspace is recorded",
                    hint="name a workspace with --workspace",
                )
            return last[0]
        if not _ID.fullmatch(prefix):
            raise RunUnknown(f"{prefix!r} is not the id of a run", hint=_LISTED)
        for among in (place, None):
            found = self._ids(among, prefix)
            if prefix in found or len(found) == 1:
                return prefix if prefix in found else found[0]
            if found:
                raise RunUnknown(f"{len(found)} recorded runs begin with {prefix!r}", hint=_LISTED)
        raise RunUnknown(f"no recorded run begins with {prefix!r}", hint=_LISTED)

    def _ids(self, workspace: str | None, prefix: str, *, limit: int = -1) -> list[str]:
        """Return the ids that begin alike, the newest first."""
        found = self._connection.execute(
            "SELECT run_id FROM runs WHERE run_id GLOB :prefix || '*'"
            " AND (:workspace IS NULL OR workspace = :workspace)"
            " ORDER BY last_at DESC, run_id DESC LIMIT :limit",
            {"prefix": prefix, "workspace": workspace, "limit": limit},
        )
        return [run_id for (run_id,) in found]

    def runs(
        self,
        workspace: str | None,
        limit: int,
        *,
        ends: Callable[[str], Iterable[Event]],
        run_id: str | None = None,
    ) -> list[RunSummary]:
        """Return the newest runs, the newest first.

        Args:
            workspace: Where they worked; None: anywhere.
            limit: How many at most.
            ends: Returns the ends that the record of a run lacks.
            run_id: The one to return, where it is recorded.
        """
        which = {
            "workspace": None if workspace is None else storable(workspace),
            "run_id": None if run_id is None else storable(run_id),
            "limit": limit,
        }
        return [
            _summary(row, [] if _is_over(row) else ends(row["run_id"]))
            for row in self._connection.execute(_NEWEST, which).fetchall()
        ]

    def older(self, at: datetime) -> list[str]:
        """Return the runs that are over and had their last event before a time."""
        return [run_id for (run_id,) in self._connection.execute(_OVER_BEFORE, (stamp(at),))]

    def forget(self, run_ids: Sequence[str]) -> None:
        """Delete the records of some runs."""
        which = [(run_id,) for run_id in run_ids]
        self._connection.executemany("DELETE FROM events WHERE run_id = ?", which)
        self._connection.executemany("DELETE FROM runs WHERE run_id = ?", which)

    def _mine(self) -> Facts:
        until = self._now() + LEASE_SECONDS
        return {
            "owner_pid": self._owner.pid,
            "owner_mark": self._owner.mark,
            "lease_until": until,
        }

    def _now(self) -> float:
        """Return the time by the database's clock, which all who share it agree on."""
        return self._connection.execute(f"SELECT {NOW}").fetchone()[0]

    def _change(self, run_id: str, facts: Facts) -> bool:
        changes = ", ".join(f"{name} = :{name}" for name in facts)
        change = f"UPDATE runs SET {changes} WHERE run_id = :of_run"  # noqa: S608  names of our own
        return self._connection.execute(change, {"of_run": run_id, **facts}).rowcount > 0

    def _insert(self, facts: Facts) -> None:
        names, places = ", ".join(facts), ", ".join(f":{name}" for name in facts)
        row = f"INSERT INTO runs ({names}) VALUES ({places}) ON CONFLICT DO NOTHING"  # noqa: S608  names of our own
        self._connection.execute(row, facts)

    def _stand(self, run_id: str, workspace: str, events: Sequence[Event]) -> None:
        """Bring the row of a run up to its newest events."""
        facts: Facts = {"last_at": events[-1].at, "last_seq": events[-1].seq}
        for event in events:
            facts |= _told_by(event)
        if not self._change(run_id, facts):
            first: Facts = {"run_id": run_id, "workspace": storable(workspace)}
            first |= {"started_at": events[0].at, **self._mine()}
            self._insert(first | facts)

    def _last(self, run_id: str, kind: EventKind) -> Facts | None:
        newest = "SELECT data FROM events WHERE run_id = ? AND kind = ? ORDER BY seq DESC LIMIT 1"
        row = self._connection.execute(newest, (run_id, kind)).fetchone()
        return None if row is None else cast("Facts", json.loads(row["data"]))


def stamp(at: datetime) -> str:
    """Return a time as the record writes it; such texts sort by time."""
    text = at.astimezone(UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _told_by(event: Event) -> Facts:
    """Return what an event changes in the row of its run."""
    data = event.data
    match event.kind:
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


def _event(row: Row) -> Event:
    try:
        data = cast("Data", json.loads(row["data"]))
    except (ValueError, RecursionError):
        raise RecordError(
            f"event {row['seq']} of run {row['run_id']!r} is damaged; something else changed the"
            " store"
        ) from None
    return Event(
        run_id=row["run_id"],
        seq=row["seq"],
        at=row["at"],
        kind=row["kind"],
        call_id=row["call_id"],
        data=data,
    )


def _is_over(row: Row) -> bool:
    return row["status"] not in (None, "paused")


def _after(row: Row, kind: EventKind, data: Facts, *, at: str) -> Event:
    """Return the event that follows the last one of a run."""
    return Event(run_id=row["run_id"], seq=row["last_seq"] + 1, at=at, kind=kind, data=data)


def _summary(row: Row, ends: Iterable[Event]) -> RunSummary:
    told: Facts = dict(row)
    for event in ends:
        told |= _told_by(event)
    instead = {INTERRUPTED: "interrupted", EXPIRED: "expired"}
    under_way = "paused" if row["phase"] == "paused" else "running"
    code, status = str(told["code"]), cast("str | None", told["status"])
    return RunSummary(
        run_id=row["run_id"],
        workspace=row["workspace"],
        started_at=row["started_at"],
        last_at=row["last_at"],
        status=instead.get(code, status or under_way),
        name=row["name"],
        engine=row["engine"],
        origin=row["origin"],
        duration_ms=cast("float", told["duration_ms"]),
        calls=row["calls"],
        waiting=tuple(cast("list[str]", json.loads(str(told["waiting"])))),
        expires_at=cast("str | None", told["expires_at"]),
    )
