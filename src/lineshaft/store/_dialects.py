"""What SQLAlchemy has under another name for each database."""

from sqlalchemy import Connection, Insert, Table
from sqlalchemy.dialects import postgresql, sqlite


def adding(connection: Connection, table: Table) -> Insert:
    """Return an insert that leaves rows alone which are there already."""
    match connection.dialect.name:
        case "sqlite":
            return sqlite.insert(table).on_conflict_do_nothing()
        case "postgresql":
            return postgresql.insert(table).on_conflict_do_nothing()
        case _:
            return table.insert()
