"""The version of the tables, and the way from each version to the next.

A step never changes once it was released: a store that somebody has takes the steps it lacks.
"""

from collections.abc import Callable, Sequence

from sqlalchemy import Connection, inspect, select

from lineshaft.errors import StateError
from lineshaft.store._tables import METADATA, SCHEMA, SHAPES

Step = Callable[[Connection], None]


def _first(connection: Connection) -> None:
    METADATA.create_all(connection)


def _second(connection: Connection) -> None:
    SHAPES.create(connection, checkfirst=True)


STEPS: Sequence[Step] = (_first, _second)
"""From version n to n + 1 at index n; the first makes all tables as they are now."""


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
        if version:
            connection.execute(SCHEMA.delete())
        connection.execute(SCHEMA.insert().values(version=len(steps)))


def version_of(connection: Connection, name: str) -> int:
    """Return the version of a store's tables; 0 where there are none.

    Raises:
        StateError: There are tables, but none of ours.
    """
    tables = inspect(connection).get_table_names()
    if SCHEMA.name not in tables:
        if tables:
            raise StateError(
                f"{name!r} is a database, but no store of Lineshaft",
                hint="name another place by LINESHAFT_STORE_URL",
            )
        return 0
    return connection.execute(select(SCHEMA.c.version)).scalar() or 0
