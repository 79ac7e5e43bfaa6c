"""An open database: transactions over the record and over what is kept.

Everything here is used by one thread, the writer's.
"""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Protocol

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from lineshaft.errors import StateError
from lineshaft.store._books import Books
from lineshaft.store._key import Keys
from lineshaft.store._migrate import STEPS, migrate, version_of
from lineshaft.store._owner import this_process
from lineshaft.store._sqlite import Sqlite

_PAGES = 1_000
_PAGE = 4_096


class _Kind(Protocol):
    """What differs between databases."""

    def engine(self) -> Engine: ...

    def prepare(self, connection: Connection) -> None: ...

    def begin(self, connection: Connection, *, durable: bool) -> None: ...

    def tidy(self, connection: Connection, *, thoroughly: bool) -> None: ...


class _Shared:
    """A database that is reached by a URL: its commits are durable as it is set up."""

    def __init__(self, url: str) -> None:
        self._url = url

    def engine(self) -> Engine:
        try:
            return create_engine(make_url(self._url), hide_parameters=True, pool_pre_ping=True)
        except ArgumentError:  # it may hold a password
            raise StateError(
                "the URL of the store is not understood",
                hint="such as sqlite:////var/lib/lineshaft.db or postgresql+psycopg://host/name",
            ) from None

    def prepare(self, connection: Connection) -> None:
        """Nothing is to be set."""

    def begin(self, connection: Connection, *, durable: bool) -> None:
        """The first statement begins it."""

    def tidy(self, connection: Connection, *, thoroughly: bool) -> None:
        """The server does it."""


class Database:
    """A connection to the store, and transactions on it.

    Args:
        where: A file, or a URL.
        keys: Find the key that states are signed with.
        keep_days: How long states stay.
        patience: Seconds to wait for another process.
        clock: Tells the time.

    Raises:
        Exception: It cannot be opened; `_faults.told` says it in words.
    """

    def __init__(
        self,
        where: Path | str,
        *,
        keys: Keys,
        keep_days: float,
        patience: float,
        clock: Callable[[], datetime],
    ) -> None:
        self.name = name_of(where)
        self._keys = keys
        self._keep_days = keep_days
        self._clock = clock
        self._owner = this_process()
        self._unmoved = 0
        self._kind: _Kind = (
            Sqlite(where, patience=patience) if isinstance(where, Path) else _Shared(where)
        )
        self._engine = self._kind.engine()
        self._connection = self._engine.connect()
        try:
            self._kind.prepare(self._connection)
            self._migrate()
        except BaseException:
            self.close()
            raise

    def _migrate(self) -> None:
        if version_of(self._connection, self.name) == len(STEPS):
            self._connection.rollback()
            return
        self._connection.rollback()
        self._kind.begin(self._connection, durable=True)
        migrate(self._connection, self.name)
        self._connection.commit()

    @contextmanager
    def transaction(self, *, durable: bool) -> Generator[Books]:
        """Commit what is done inside the block, or nothing of it.

        Args:
            durable: Whether it is on the disk afterwards, whatever happens to the machine.
        """
        self._kind.begin(self._connection, durable=durable)
        books = Books(
            self._connection,
            keys=self._keys,
            keep_days=self._keep_days,
            now=self._clock(),
            owner=self._owner,
        )
        try:
            yield books
            books.settle()
            self._connection.commit()
        except BaseException:
            self._connection.rollback()
            raise
        self._unmoved += 4 + books.written // _PAGE

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Do what can wait until nobody waits."""
        if thoroughly or self._unmoved > _PAGES:
            self._unmoved = 0
            self._kind.tidy(self._connection, thoroughly=thoroughly)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()
        self._engine.dispose()


def name_of(where: Path | str) -> str:
    """Return what messages call a store: no folder, no user, no password."""
    if isinstance(where, Path):
        return where.name
    return where.partition("://")[0].partition("+")[0]
