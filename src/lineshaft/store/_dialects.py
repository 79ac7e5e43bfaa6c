"""What SQLAlchemy has under another name for each database."""

from functools import lru_cache

from sqlalchemy import Connection, Insert, Table
from sqlalchemy.dialects import sqlite


def adding(connection: Connection, table: Table) -> Insert:
    """Return an insert that leaves rows alone which are there already."""
    return _adding(connection.dialect.name, table)


@lru_cache  # to build a statement takes longer than to execute it
def _adding(dialect: str, table: Table) -> Insert:
    match dialect:
        case "sqlite":
            return sqlite.insert(table).on_conflict_do_nothing()
        case "postgresql":
            from sqlalchemy.dialects import postgresql  # noqa: PLC0415  a fifth of all imports

            return postgresql.insert(table).on_conflict_do_nothing()
        case _:
            return table.insert()
