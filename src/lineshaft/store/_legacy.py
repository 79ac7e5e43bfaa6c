"""Stores before the run log (tables of versions 1 to 3): recognised, and imported once.

The older file is only read, over a connection that cannot write: a process of an earlier version
may hold it. Records and shapes of results are imported; states of unfinished runs are not.
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from lineshaft.store._json import shown
from lineshaft.store._log import EXPIRED
from lineshaft.store._schema import NOW
from lineshaft.values import ROW_OF

NAME = "store.db"
"""The file in the state folder."""

_A_DAY = 86_400
_KINDS = {str(kind): row for kind, row in ROW_OF.items()}
_INSERT_EVENT = """
INSERT INTO log (run, seq, at, kind, call_id, container, event_seq, shown, exact, mac)
VALUES (:run_id, :number, :at, :row_kind, :call_id, NULL, :seq, :shown, NULL, x'')
"""
_INSERT_RUN = f"""
INSERT INTO runs (id, workspace, format, phase, status, code, name, engine, origin, started_at,
    last_at, seq, event_seq, duration_ms, waiting, expires_at, lease_no, lease_until, owner_pid,
    owner_mark, head, seal, key_id, exact_bytes, keep_until)
VALUES (:run_id, :workspace, 1, :phase, :status, :code, :name, :engine, :origin, :started_at,
    :last_at, :number, :last_seq, :duration_ms, :waiting, :expires_at, 1,
    coalesce(:lease_until, {NOW} + {_A_DAY}), :owner_pid, :owner_mark, x'', x'', '', 0, NULL)
"""  # noqa: S608  text of our own
_SHAPES = "id, workspace, tool, version, schema, results, drifted, last_at"
_PAUSED = "an earlier version of Lineshaft paused this run, and only that version can go on with it"


def place_of(path: Path) -> tuple[Path, Path]:
    """Return the file of a named store, and the possible place of an older one.

    Args:
        path: The name given; where it is an older store, the new one lies beside it.
    """
    if path.is_file() and _is_older(path):
        return path.with_name(f"{path.stem}-log{path.suffix}"), path
    return path, path


def import_older(connection: sqlite3.Connection, path: Path) -> None:
    """Import the records of an older store, in the transaction that the connection is in.

    Args:
        connection: To the new store, which has its tables.
        path: The older file; where none is, or it cannot be read, nothing is imported.
    """
    if not path.is_file() or not _is_older(path):
        return
    connection.execute("SAVEPOINT import")
    try:
        with closing(_connect(path)) as older:
            older.execute("BEGIN")
            _import(connection, older)
    except sqlite3.Error:  # damaged: the older file stays for its owner
        connection.execute("ROLLBACK TO import")
    connection.execute("RELEASE import")


def _import(connection: sqlite3.Connection, older: sqlite3.Connection) -> None:
    phases = dict(older.execute("SELECT run_id, phase FROM states"))
    for run in older.execute("SELECT * FROM runs").fetchall():
        facts: dict[str, object] = {"lease_until": None, **dict(run), "number": 0}
        facts["phase"] = "older" if run["run_id"] in phases else "recorded"
        paused = phases.get(run["run_id"]) == "paused" or run["status"] == "paused"
        for event in _events(older, facts, paused=paused):
            connection.execute(_INSERT_EVENT, event)
            facts |= {"number": event["number"], "last_seq": event["seq"]}
        if paused:
            facts |= {"status": "cancelled", "code": EXPIRED, "waiting": "[]", "expires_at": None}
        connection.execute(_INSERT_RUN, facts)
    if older.execute("SELECT 1 FROM sqlite_schema WHERE name = 'shapes'").fetchone():
        places = ", ".join("?" * len(_SHAPES.split(",")))
        rows = older.execute(f"SELECT {_SHAPES} FROM shapes")  # noqa: S608  names of our own
        insert = f"INSERT INTO shapes ({_SHAPES}) VALUES ({places})"  # noqa: S608  names of our own
        connection.executemany(insert, (tuple(row) for row in rows))


def _events(
    older: sqlite3.Connection, run: dict[str, object], *, paused: bool
) -> Iterator[dict[str, object]]:
    """Return the rows of a run's events, and its end where it was paused."""
    of_run = "SELECT * FROM events WHERE run_id = ? ORDER BY seq"
    event: dict[str, object] = {"run_id": run["run_id"], "number": 0, "seq": 0}
    for number, row in enumerate(older.execute(of_run, (run["run_id"],)), 1):
        event = {**dict(row), "number": number, "row_kind": _KINDS.get(row["kind"], "log")}
        event["shown"] = f'[["{row["kind"]}",{row["data"]}]]'
        yield event
    if paused:
        error = {"code": EXPIRED, "message": _PAUSED, "hint": "run the script anew"}
        told: dict[str, object] = {
            "status": "cancelled",
            "engine": run["engine"],
            "duration_ms": run["duration_ms"],
            "error": error,
            "landed": False,
            "pending": [],
            "expires_at": None,
        }
        yield {
            "run_id": run["run_id"],
            "number": int(str(event["number"])) + 1,
            "seq": int(str(event["seq"])) + 1,
            "at": run["last_at"],
            "row_kind": "end",
            "call_id": None,
            "shown": shown([["run_finished", told]]),
        }


def _is_older(path: Path) -> bool:
    """Return whether a file is a store of an earlier version."""
    try:
        with closing(_connect(path)) as connection:
            found = "SELECT 1 FROM sqlite_schema WHERE name = 'lineshaft_schema'"
            return connection.execute(found).fetchone() is not None
    except sqlite3.Error:
        return False


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", isolation_level=None, uri=True)
    connection.row_factory = sqlite3.Row
    return connection
