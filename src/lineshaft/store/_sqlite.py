"""All that is SQLite's own: files, pragmas, locks, and how a transaction begins."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from sqlalchemy import Connection, Engine, create_engine
from sqlalchemy.engine import URL
from sqlalchemy.pool import NullPool

from lineshaft.errors import StateError
from lineshaft.store._files import publish
from lineshaft.store._migrate import migrate
from lineshaft.store._places import private_folder

_SUFFIXES = ("-wal", "-shm")


class Sqlite:
    """A store in a file.

    Args:
        path: The file; made where it is missing, for its owner alone.
        patience: Seconds to wait for another process.
    """

    def __init__(self, path: Path, *, patience: float) -> None:
        self.path = path
        self._patience = patience
        self._synchronous = ""

    def engine(self) -> Engine:
        """Return what opens connections; the file is there then.

        Raises:
            OSError: The file cannot be made.
        """
        private_folder(self.path.parent)
        if not os.path.lexists(self.path):
            self._make()
        found = self.path.stat()
        wal = self.path.with_name(f"{self.path.name}-wal")
        if found.st_size == 0 and not wal.exists():
            raise StateError(
                f"the store {self.path.name!r} is damaged: the file is empty",
                hint="delete it (a new store is begun), or put it back from a copy",
            )
        # Never by opening it: closing the file would drop the locks that this process holds.
        for each in (self.path, *(self.path.with_name(self.path.name + s) for s in _SUFFIXES)):
            with suppress(FileNotFoundError, PermissionError):
                if stat.S_IMODE(each.stat().st_mode) & 0o077:
                    each.chmod(0o600)
        return self._connector(self.path)

    def _connector(self, path: Path) -> Engine:
        return create_engine(
            URL.create("sqlite", database=str(path)),
            poolclass=NullPool,
            hide_parameters=True,
            connect_args={"timeout": self._patience, "isolation_level": None},
        )

    def _make(self) -> None:
        """Make the file beside its place, whole, and give it its name: nobody sees it half."""
        with tempfile.TemporaryDirectory(prefix=".store-", dir=self.path.parent) as folder:
            draft = Path(folder) / self.path.name
            os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
            engine = self._connector(draft)
            with engine.connect() as connection:
                for pragma in ("auto_vacuum=INCREMENTAL", "journal_mode=WAL"):
                    connection.exec_driver_sql(f"PRAGMA {pragma}").close()
                connection.commit()
                migrate(connection, self.path.name)
                connection.commit()
            engine.dispose()
            publish(draft, self.path)

    def prepare(self, connection: Connection) -> None:
        """Set up a new connection."""
        for pragma in ("secure_delete=ON", "wal_autocheckpoint=0", "trusted_schema=OFF"):
            connection.exec_driver_sql(f"PRAGMA {pragma}").close()
        connection.commit()

    def begin(self, connection: Connection, *, durable: bool) -> None:
        """Begin a transaction that writes; its commit waits for the disk if it is durable."""
        wanted = "FULL" if durable else "NORMAL"
        if wanted != self._synchronous:
            connection.exec_driver_sql(f"PRAGMA synchronous={wanted}").close()
            self._synchronous = wanted
        connection.exec_driver_sql("BEGIN IMMEDIATE").close()

    def tidy(self, connection: Connection, *, thoroughly: bool) -> None:
        """Move the log into the file.

        Args:
            connection: Between two transactions.
            thoroughly: Also give free pages back, and empty the log of what was deleted.
        """
        cursor = connection.connection.cursor()
        try:
            if thoroughly:  # one step a page, which only the driver takes
                cursor.execute("PRAGMA incremental_vacuum")
                cursor.fetchall()
            cursor.execute(f"PRAGMA wal_checkpoint({'TRUNCATE' if thoroughly else 'PASSIVE'})")
            cursor.fetchall()
        finally:
            cursor.close()
        connection.commit()
