"""The record in the store: events, and one row a run that says how it stands."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import cast

from sqlalchemy import Connection, Row, Update, bindparam, delete, func, select, update

from lineshaft.errors import RecordError, RunUnknown
from lineshaft.store._dialects import adding
from lineshaft.store._owner import Owner
from lineshaft.store._summaries import RunSummary
from lineshaft.store._tables import EVENTS, RUNS, STATES
from lineshaft.store._texts import shown, storable
from lineshaft.values import Event, EventKind

Data = Mapping[str, object]
Facts = dict[str, object]

INTERRUPTED = "E_INTERRUPTED"
_EXPIRED = "E_EXPIRED"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LISTED = "lineshaft runs lists them"
_UNDER_WAY = select(RUNS.c.run_id, RUNS.c.owner_pid, RUNS.c.owner_mark).where(
    RUNS.c.status.is_(None)
)
_ROW = select(RUNS).where(RUNS.c.run_id == bindparam("of_run"))
_UPDATE = update(RUNS).where(RUNS.c.run_id == bindparam("of_run"))


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
        """Add events; those that are there stay.

        Args:
            told: Each with the workspace of its run before it, and its data as text behind it.
        """
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
        self._connection.execute(adding(self._connection, EVENTS), rows)
        for run_id, (workspace, events) in runs.items():
            self._stand(run_id, workspace, events)

    def open(self, run_id: str, workspace: str) -> None:
        """Make the row of a run that this process works on, where it is missing."""
        at = stamp(self.now)
        row: Facts = {"run_id": run_id, "workspace": storable(workspace), "started_at": at}
        row |= {"last_at": at, "last_seq": 0, **self._mine()}
        self._connection.execute(adding(self._connection, RUNS), row)

    def take(self, run_id: str) -> None:
        """Say that this process works on a run from now on."""
        facts: Facts = {"status": None, "code": "", "waiting": "[]", "expires_at": None}
        self._change(run_id, facts | self._mine())

    def events(self, run_id: str) -> list[Event]:
        """Return the events of a run, in order.

        Raises:
            RunUnknown: There are none.
        """
        of_run = select(EVENTS).where(EVENTS.c.run_id == run_id).order_by(EVENTS.c.seq)
        events = [_event(row) for row in self._connection.execute(of_run)]
        if not events:
            raise RunUnknown(f"no recorded run is called {run_id!r}", hint=_LISTED)
        return events

    def row(self, run_id: str) -> Row[tuple[object, ...]] | None:
        """Return how a run stands, if anything is known of it."""
        return self._connection.execute(_ROW, {"of_run": run_id}).first()

    def owner(self, run_id: str) -> Owner | None:
        """Return the process that works, or last worked, on a run."""
        row = self.row(run_id)
        return None if row is None else Owner(row.owner_pid, row.owner_mark)

    def has_ended(self, run_id: str) -> bool:
        """Return whether the record tells an end that the run's own host wrote."""
        row = self.row(run_id)
        return row is not None and row.status not in (None, "paused") and row.code != INTERRUPTED

    def orphans(self) -> list[str]:
        """Return the runs that go on, as their records say, and whose process has died."""
        found = self._connection.execute(_UNDER_WAY)
        return [run_id for run_id, pid, mark in found if not Owner(pid, mark).lives]

    def end(self, run_id: str, status: str, *, code: str, message: str, hint: str = "") -> None:
        """Add the end that a record lacks.

        Args:
            run_id: The run.
            status: How it ended; `paused`: it only waits.
            code: Of its error.
            message: What happened.
            hint: What to do next.
        """
        row = self.row(run_id)
        if row is None:
            return
        paused = self._last(run_id, "run_paused")
        since = datetime.fromisoformat(row.last_at) - datetime.fromisoformat(row.started_at)
        data: Facts = {
            "status": status,
            "engine": row.engine,
            "duration_ms": since.total_seconds() * 1000,
            "landed": False,
            **(paused or {}),
        }
        if status == "paused":
            tools = cast("list[str]", json.loads(row.waiting))
            nothing: Facts = {}
            waiting = [{"id": "", "tool": t, "arguments": nothing, "reason": ""} for t in tools]
            data |= {"status": status, "pending": waiting, "expires_at": row.expires_at}
        else:
            error = {"code": code, "message": message, "hint": hint}
            data |= {"status": status, "error": error, "pending": [], "expires_at": None}
        kind: EventKind = "run_paused" if status == "paused" else "run_finished"
        seq, at = row.last_seq + 1, stamp(self.now)
        event = Event(run_id=run_id, seq=seq, at=at, kind=kind, data=data)
        self.add([(row.workspace, event, shown(data))])

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
        ids = select(RUNS.c.run_id).order_by(RUNS.c.last_at.desc(), RUNS.c.run_id.desc())
        here = ids if workspace is None else ids.where(RUNS.c.workspace == storable(workspace))
        if prefix is None:
            last = self._connection.execute(here.limit(1)).scalar()
            if last is None:
                raise RunUnknown(
                    "no run of this workspace is recorded",
                    hint="name a workspace with --workspace",
                )
            return str(last)
        if not _ID.fullmatch(prefix):
            raise RunUnknown(f"{prefix!r} is not the id of a run", hint=_LISTED)
        begins = RUNS.c.run_id.startswith(prefix, autoescape=True)
        for among in (here, ids):
            found = [
                str(run_id) for run_id in self._connection.execute(among.where(begins)).scalars()
            ]
            found = [run_id for run_id in found if run_id.startswith(prefix)]
            if prefix in found or len(found) == 1:
                return prefix if prefix in found else found[0]
            if found:
                raise RunUnknown(f"{len(found)} recorded runs begin with {prefix!r}", hint=_LISTED)
        raise RunUnknown(f"no recorded run begins with {prefix!r}", hint=_LISTED)

    def runs(
        self, workspace: str | None, limit: int, *, run_id: str | None = None
    ) -> list[RunSummary]:
        """Return the newest runs, the newest first; with an id that one, where it is recorded."""
        kept = RUNS.outerjoin(STATES, STATES.c.run_id == RUNS.c.run_id)
        newest = select(*RUNS.c, STATES.c.phase).select_from(kept)
        newest = newest.order_by(RUNS.c.last_at.desc(), RUNS.c.run_id.desc()).limit(limit)
        if workspace is not None:
            newest = newest.where(RUNS.c.workspace == storable(workspace))
        if run_id is not None:
            newest = newest.where(RUNS.c.run_id == storable(run_id))
        rows = self._connection.execute(newest).all()
        asked = (
            select(EVENTS.c.run_id, func.count(func.distinct(EVENTS.c.call_id)))
            .where(EVENTS.c.run_id.in_([row.run_id for row in rows]))
            .where(EVENTS.c.kind == "call_asked")
            .group_by(EVENTS.c.run_id)
        )
        calls = {run_id: int(count) for run_id, count in self._connection.execute(asked)}
        return [_summary(row, calls.get(row.run_id, 0)) for row in rows]

    def older(self, at: datetime) -> list[str]:
        """Return the runs that are over and had their last event before a time."""
        over = select(RUNS.c.run_id).where(RUNS.c.last_at < stamp(at))
        ended = over.where(RUNS.c.status.is_not(None), RUNS.c.status != "paused")
        return [str(run_id) for run_id in self._connection.execute(ended).scalars()]

    def forget(self, run_ids: Sequence[str]) -> None:
        """Delete the records of some runs."""
        for table in (EVENTS, RUNS) if run_ids else ():
            gone = delete(table).where(table.c.run_id == bindparam("of_run"))
            self._connection.execute(gone, [{"of_run": run_id} for run_id in run_ids])

    def _mine(self) -> Facts:
        return {"owner_pid": self._owner.pid, "owner_mark": self._owner.mark}

    def _change(self, run_id: str, facts: Facts) -> bool:
        found = self._connection.execute(_changing(tuple(facts)), {"of_run": run_id, **facts})
        return found.rowcount > 0

    def _stand(self, run_id: str, workspace: str, events: Sequence[Event]) -> None:
        """Bring the row of a run up to its newest events."""
        facts: Facts = {"last_at": events[-1].at, "last_seq": events[-1].seq}
        for event in events:
            facts |= _told_by(event)
        if not self._change(run_id, facts):
            first: Facts = {"run_id": run_id, "workspace": storable(workspace)}
            first |= {"started_at": events[0].at, **self._mine()}
            self._connection.execute(RUNS.insert().values(first | facts))

    def _last(self, run_id: str, kind: EventKind) -> Facts | None:
        of_kind = (EVENTS.c.run_id == run_id, EVENTS.c.kind == kind)
        newest = select(EVENTS.c.data).where(*of_kind).order_by(EVENTS.c.seq.desc()).limit(1)
        text = self._connection.execute(newest).scalar()
        return None if text is None else cast("Facts", json.loads(text))


@lru_cache(maxsize=64)  # to build a statement takes longer than to execute it
def _changing(names: tuple[str, ...]) -> Update:
    return _UPDATE.values({name: bindparam(name) for name in names})


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
        case "run_restarted":
            return {"engine": storable(str(data.get("engine") or ""))}
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


def _event(row: Row[tuple[object, ...]]) -> Event:
    try:
        data = cast("Data", json.loads(row.data))
    except (ValueError, RecursionError):
        raise RecordError(
            f"event {row.seq} of run {row.run_id!r} is damaged; something else changed the store"
        ) from None
    return Event(
        run_id=row.run_id,
        seq=row.seq,
        at=row.at,
        kind=cast("EventKind", row.kind),
        call_id=row.call_id,
        data=data,
    )


def _summary(row: Row[tuple[object, ...]], calls: int) -> RunSummary:
    instead = {INTERRUPTED: "interrupted", _EXPIRED: "expired"}
    under_way = "paused" if row.phase == "paused" else "running"
    return RunSummary(
        run_id=row.run_id,
        workspace=row.workspace,
        started_at=row.started_at,
        last_at=row.last_at,
        status=instead.get(row.code, row.status or under_way),
        name=row.name,
        engine=row.engine,
        origin=row.origin,
        duration_ms=row.duration_ms,
        calls=calls,
        waiting=tuple(cast("list[str]", json.loads(row.waiting))),
        expires_at=row.expires_at,
    )
