"""Lists of runs, and runs by the beginnings of their ids."""

import json
import re
from sqlite3 import Connection
from typing import cast

from lineshaft.errors import RunUnknown
from lineshaft.store._json import storable
from lineshaft.store._log import EXPIRED, INTERRUPTED, Log, RunRow, told_by
from lineshaft.store._summaries import RunSummary

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_LISTED = "`lineshaft runs` lists them"
_CALLS = "SELECT count(DISTINCT call_id) FROM log WHERE run = ? AND kind = 'call'"
_MOST_COUNTED = 5_000

_LAST = """
WITH here AS (
    SELECT rowid AS began, id, seq, last_at FROM runs
    WHERE :workspace IS NULL OR workspace = :workspace
)
SELECT id FROM (
    SELECT * FROM (SELECT id, seq, last_at FROM here ORDER BY last_at DESC, id DESC LIMIT 1)
    UNION SELECT * FROM (SELECT id, seq, last_at FROM here ORDER BY began DESC LIMIT 1)
) AS late
ORDER BY (SELECT log.rowid FROM log WHERE run = late.id AND log.seq = late.seq) DESC, last_at DESC
LIMIT 1
"""


class CallCounts:
    """The calls of runs, counted once for each state of a run: to count them reads its log."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[int, bytes, int]] = {}

    def of(self, connection: Connection, row: RunRow) -> int:
        """Return how many calls a run has."""
        known = self._known.get(row.id)
        if known is not None and known[:2] == (row.seq, row.head):
            return known[2]
        count: int = connection.execute(_CALLS, (row.id,)).fetchone()[0]
        if len(self._known) >= _MOST_COUNTED:
            self._known.clear()
        self._known[row.id] = (row.seq, row.head, count)
        return count


class RunList:
    """Reads how runs stand.

    Args:
        connection: In a transaction.
        log: The log in the same transaction.
        counts: What is known of runs from transactions before.
    """

    def __init__(self, connection: Connection, log: Log, counts: CallCounts) -> None:
        self._connection = connection
        self._log = log
        self._counts = counts

    def newest(
        self, workspace: str | None, limit: int, *, run_id: str | None = None
    ) -> list[RunSummary]:
        """Return the newest runs, the newest first.

        Args:
            workspace: Their workspace; None: any.
            limit: The most runs.
            run_id: The one to return, where it is recorded.
        """
        wanted = {"workspace": workspace, "id": run_id}
        which: dict[str, object] = {
            column: storable(value) for column, value in wanted.items() if value is not None
        }
        # Only what is asked for: an alternative in the condition would keep it from an index.
        where = " AND ".join(f"{column} = :{column}" for column in which)
        newest = f"{'WHERE' if which else ''} {where} ORDER BY last_at DESC, id DESC LIMIT :limit"
        found = self._log.select(newest, {**which, "limit": limit})
        return [_damaged(row) if isinstance(row, str) else self._summary(row) for row in found]

    def find(self, prefix: str | None, workspace: str | None) -> str:
        """Return the id of a run.

        Args:
            prefix: The id, its beginning or its end; None: the last run.
            workspace: The workspace to search first, or None.

        Raises:
            RunUnknown: There is none, or there are several.
        """
        place = None if workspace is None else storable(workspace)
        if prefix is None:
            last = self._last(place)
            if last is None:
                raise RunUnknown(
                    "no run of this workspace is recorded",
                    hint="name a workspace with --workspace",
                )
            return last
        if not _ID.fullmatch(prefix):
            raise RunUnknown(f"{prefix!r} is not the id of a run", hint=_LISTED)
        # A person types the beginning of an id, or copies its end, which tells runs apart.
        for among in (place, None):
            for glob, verb in ((f"{prefix}*", "begin"), (f"*{prefix}", "end")):
                found = self._ids(among, glob)
                if prefix in found or len(found) == 1:
                    return prefix if prefix in found else found[0]
                if found:
                    text = f"{len(found)} recorded runs {verb} with {prefix!r}"
                    raise RunUnknown(text, hint=_LISTED)
        raise RunUnknown(f"no recorded run begins or ends with {prefix!r}", hint=_LISTED)

    def _last(self, workspace: str | None) -> str | None:
        """Return the run with the newest step.

        A clock may have been set back since: of the run that was last by it and the one that was
        begun last, the one counts whose last step was written later.
        """
        found = self._connection.execute(_LAST, {"workspace": workspace}).fetchone()
        return str(found[0]) if found else None

    def _ids(self, workspace: str | None, glob: str) -> list[str]:
        """Return the ids that are alike, the newest first."""
        found = self._connection.execute(
            "SELECT id FROM runs WHERE id GLOB :glob"
            " AND (:workspace IS NULL OR workspace = :workspace)"
            " ORDER BY last_at DESC, id DESC",
            {"glob": glob, "workspace": workspace},
        )
        return [run_id for (run_id,) in found if isinstance(run_id, str)]

    def _summary(self, row: RunRow) -> RunSummary:
        if not row.is_over:
            for event in self._log.ends(row):
                for name, value in told_by(event.kind, event.data).items():
                    setattr(row, name, value)
        instead = {INTERRUPTED: "interrupted", EXPIRED: "expired"}
        under_way = "paused" if row.phase == "paused" else "running"
        return RunSummary(
            run_id=row.id,
            workspace=row.workspace,
            started_at=row.started_at,
            last_at=row.last_at,
            status=instead.get(row.code, row.status or under_way),
            name=row.name,
            engine=row.engine,
            origin=row.origin,
            duration_ms=row.duration_ms,
            calls=self._counts.of(self._connection, row),
            waiting=tuple(cast("list[str]", json.loads(row.waiting))),
            expires_at=row.expires_at,
            process=_process(row),
        )


def _damaged(run_id: str) -> RunSummary:
    """Return the line of a run of whose own row nothing can be believed."""
    return RunSummary(run_id=run_id, workspace="", started_at="", last_at="", status="damaged")


def _process(row: RunRow) -> int | None:
    """Return the process that works on a run, where its number says which one it is."""
    works = not row.is_over and row.phase != "paused" and not row.code
    return row.owner.pid if works and row.owner.is_here else None
