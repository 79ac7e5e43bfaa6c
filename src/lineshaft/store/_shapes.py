"""Shapes of results in the store: one row for each tool of a workspace whose results were seen."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from sqlite3 import Connection, Row
from typing import cast

from lineshaft.store._json import storable
from lineshaft.store._log import stamp
from lineshaft.values import ObservedShape

Schema = Mapping[str, object]
Merge = Callable[[Schema, Schema], Schema]

_LONGEST = 100_000


class Shapes:
    """Reads and writes shapes in a transaction.

    Args:
        connection: In a transaction.
        now: The time of the transaction.
    """

    def __init__(self, connection: Connection, *, now: datetime) -> None:
        self._connection = connection
        self._now = now
        self.written = 0

    def add(self, workspace: str, seen: ObservedShape, merge: Merge) -> None:
        """Add new observations to the known ones; those of other versions of the tool are dropped.

        Args:
            workspace: The workspace in which the tool is used.
            seen: The observations since the last call; `count` and `drifted` of these alone.
            merge: Makes one schema of two.
        """
        key = _key(workspace, seen)
        of_key = "SELECT * FROM shapes WHERE id = ?"
        known = self._connection.execute(of_key, (key,)).fetchone()
        if known is None:
            self._connection.execute(
                "DELETE FROM shapes WHERE workspace = ? AND tool = ?",
                (storable(workspace), _name(seen.tool)),
            )
        if known is not None and not _is_whole(known):
            known = None  # another program has written there: the observations begin anew
        had = None if known is None else _schema(known["schema"])
        schema = json.dumps(seen.schema if had is None else merge(had, seen.schema))
        self.written += len(schema)
        self._connection.execute(
            _PUT,
            {
                "id": key,
                "workspace": storable(workspace),
                "tool": _name(seen.tool),
                "version": seen.version,
                "schema": schema,
                "results": seen.count + (0 if known is None else known["results"]),
                "drifted": seen.drifted + (0 if known is None else known["drifted"]),
                "last_at": stamp(self._now),
            },
        )

    def all(self, workspace: str) -> list[ObservedShape]:
        """Return the shapes of a workspace, by the names of their tools."""
        of_workspace = "SELECT * FROM shapes WHERE workspace = ? ORDER BY tool"
        found: list[ObservedShape] = []
        for row in self._connection.execute(of_workspace, (storable(workspace),)):
            schema = _schema(row["schema"])
            if schema is not None and _is_whole(row):
                found.append(
                    ObservedShape(
                        tool=row["tool"],
                        version=row["version"],
                        schema=schema,
                        count=row["results"],
                        drifted=row["drifted"],
                        last_seen=row["last_at"],
                    )
                )
        return found

    def forget(self, workspace: str, tools: Iterable[str] | None) -> int:
        """Delete the shapes of some tools of a workspace, or of all; return how many there were."""
        of_workspace = "DELETE FROM shapes WHERE workspace = ?"
        place = storable(workspace)
        if tools is None:
            return self._connection.execute(of_workspace, (place,)).rowcount
        of_tool = f"{of_workspace} AND tool = ?"
        return sum(
            self._connection.execute(of_tool, (place, name)).rowcount
            for name in sorted({_name(tool) for tool in tools})
        )

    def forget_before(self, time: datetime) -> None:
        """Delete the shapes of tools that were not used since then."""
        self._connection.execute("DELETE FROM shapes WHERE last_at < ?", (stamp(time),))


_PUT = """
INSERT INTO shapes (id, workspace, tool, version, schema, results, drifted, last_at)
VALUES (:id, :workspace, :tool, :version, :schema, :results, :drifted, :last_at)
ON CONFLICT (id) DO UPDATE SET
    schema = :schema, results = :results, drifted = :drifted, last_at = :last_at
"""


def _name(tool: str) -> str:
    return storable(tool)[:200]


def _key(workspace: str, seen: ObservedShape) -> str:
    text = "\0".join((workspace, seen.tool, seen.version))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _is_whole(row: Row) -> bool:
    """Return whether the other columns have values of their kinds."""
    texts = all(isinstance(row[name], str) for name in ("tool", "version", "last_at"))
    return texts and all(isinstance(row[name], int) for name in ("results", "drifted"))


def _schema(text: object) -> Schema | None:
    """Return a schema as it was kept; None where another program has written there."""
    try:
        held = json.loads(text) if isinstance(text, str) and len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        return None
    return cast("Schema", held) if isinstance(held, dict) else None
