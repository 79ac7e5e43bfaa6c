"""Shapes of results in the store: one row for each tool of a workspace whose results were seen."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import cast

from sqlalchemy import Connection, delete, select, update

from lineshaft.store._dialects import adding
from lineshaft.store._record import stamp
from lineshaft.store._tables import SHAPES
from lineshaft.store._texts import storable
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
        """Add what was seen to what is known; of other versions of the tool nothing stays.

        Args:
            workspace: Where the tool is used.
            seen: What was seen since it was added last; `count` and `drifted` of that alone.
            merge: Makes one schema of two.
        """
        key = _key(workspace, seen)
        known = self._connection.execute(select(SHAPES).where(SHAPES.c.id == key)).first()
        if known is None:
            of_tool = (SHAPES.c.workspace == storable(workspace), SHAPES.c.tool == _name(seen.tool))
            self._connection.execute(delete(SHAPES).where(*of_tool))
        had = None if known is None else _schema(known.schema)
        row: dict[str, object] = {
            "schema": json.dumps(seen.schema if had is None else merge(had, seen.schema)),
            "results": seen.count + (0 if known is None else known.results),
            "drifted": seen.drifted + (0 if known is None else known.drifted),
            "last_at": stamp(self._now),
        }
        self.written += len(cast("str", row["schema"]))
        if known is not None:
            self._connection.execute(update(SHAPES).where(SHAPES.c.id == key).values(row))
            return
        row |= {"id": key, "workspace": storable(workspace), "tool": _name(seen.tool)}
        row["version"] = seen.version
        self._connection.execute(adding(self._connection, SHAPES).values(row))

    def all(self, workspace: str) -> list[ObservedShape]:
        """Return the shapes of a workspace, by the names of their tools."""
        of_workspace = select(SHAPES).where(SHAPES.c.workspace == storable(workspace))
        found: list[ObservedShape] = []
        for row in self._connection.execute(of_workspace.order_by(SHAPES.c.tool)):
            schema = _schema(row.schema)
            if schema is not None:
                found.append(
                    ObservedShape(
                        tool=row.tool,
                        version=row.version,
                        schema=schema,
                        count=row.results,
                        drifted=row.drifted,
                        last_seen=row.last_at,
                    )
                )
        return found

    def forget(self, workspace: str, tools: Iterable[str] | None) -> int:
        """Delete the shapes of some tools of a workspace, or of all; return how many there were."""
        gone = delete(SHAPES).where(SHAPES.c.workspace == storable(workspace))
        if tools is not None:
            gone = gone.where(SHAPES.c.tool.in_([_name(tool) for tool in tools]))
        return self._connection.execute(gone).rowcount

    def forget_before(self, time: datetime) -> None:
        """Delete the shapes of tools that were not used since then."""
        self._connection.execute(delete(SHAPES).where(SHAPES.c.last_at < stamp(time)))


def _name(tool: str) -> str:
    return storable(tool)[:200]


def _key(workspace: str, seen: ObservedShape) -> str:
    text = "\0".join((workspace, seen.tool, seen.version))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()


def _schema(text: str) -> Schema | None:
    """Return a schema as it was kept; None where somebody else has written there."""
    try:
        held = json.loads(text) if len(text) <= _LONGEST else None
    except (ValueError, RecursionError):
        return None
    return cast("Schema", held) if isinstance(held, dict) else None
