"""The version of the tables, and the way from each version to the next.

A step never changes once it was released: a store that somebody has takes the steps it lacks.
"""

from collections.abc import Callable, Sequence
from sqlite3 import Connection

from lineshaft.errors import StateError
from lineshaft.store._tables import EVENTS, NOW, ROWS, RUNS, SCHEMA, SHAPES, STATES

Step = Callable[[Connection], None]


def _first(connection: Connection) -> None:
    for table in (SCHEMA, RUNS, EVENTS, STATES, ROWS):
        _execute(connection, table)


def _second(connection: Connection) -> None:
    _execute(connection, SHAPES)


def _third(connection: Connection) -> None:
    """Add leases; runs that a process of an earlier version may work on have one for a day."""
    connection.execute("ALTER TABLE runs ADD COLUMN lease_until REAL NOT NULL DEFAULT 0")
    a_day_on = f"{NOW} + 86400"
    connection.execute(f"UPDATE runs SET lease_until = {a_day_on} WHERE status IS NULL")  # noqa: S608  text of our own


STEPS: Sequence[Step] = (_first, _second, _third)
"""From version n to n + 1 at index n."""


def migrate(connection: Connection, name: str, steps: Sequence[Step] = STEPS) -> None:
    """Bring a store to this version, in the transaction that the connection is in.

    Args:
        connection: To the store.
        name: What to call the store.
        steps: All steps there are.

    Raises:
        StateError: A newer version made the store, or it is not one of ours.
    """
    version = version_of(connection, name)
    if version > len(steps):
        raise StateError(
            f"the store {name!r} was made by a newer version of Lineshaft (its tables have version"
            f" {version}; this one knows {len(steps)})",
            hint="use that version, or name another store by LINESHAFT_STORE_URL",
        )
    for step in steps[version:]:
        step(connection)
    if version < len(steps):
        connection.execute("DELETE FROM lineshaft_schema")
        connection.execute("INSERT INTO lineshaft_schema (version) VALUES (?)", (len(steps),))


def version_of(connection: Connection, name: str) -> int:
    """Return the version of a store's tables; 0 where there are none.

    Raises:
        StateError: There are tables, but none of ours.
    """
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    tables = {name for (name,) in found}
    if "lineshaft_schema" not in tables:
        if tables:
            raise StateError(
                f"{name!r} is a database, but no store of Lineshaft",
                hint="name another place by LINESHAFT_STORE_URL",
            )
        return 0
    row = connection.execute("SELECT version FROM lineshaft_schema").fetchone()
    return row[0] if row else 0


def _execute(connection: Connection, statements: str) -> None:
    """Execute statements one by one: `executescript` would commit what is open."""
    for statement in statements.split(";"):
        connection.execute(statement)
