"""The file of a store: transactions and checkpoints of one connection, and snapshots for readers.

A `Database` is used by one thread, the writer's. A snapshot has a connection of its own, which can
only read, takes no lock that a writer waits for, and is closed with it.
"""

import os
import sqlite3
import stat
import tempfile
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path

from msgspec import field

from lineshaft.errors import StateError
from lineshaft.files import private_folder
from lineshaft.store._checkpoints import CheckpointLock
from lineshaft.store._faults import damaged, fault
from lineshaft.store._files import publish
from lineshaft.store._key import Keys
from lineshaft.store._legacy import import_older
from lineshaft.store._list import CallCounts, RunList
from lineshaft.store._log import Log
from lineshaft.store._owner import this_process
from lineshaft.store._results import TABLE as RESULTS
from lineshaft.store._results import Results
from lineshaft.store._schema import NEEDED, TABLES, VERSION
from lineshaft.store._shapes import Shapes
from lineshaft.values import Struct

_SUFFIXES = ("-wal", "-shm")
_PAGES = 1_000
_PAGE = 4_096
_PRAGMAS = ("secure_delete=ON", "wal_autocheckpoint=0", "trusted_schema=OFF")


class Transaction:
    """The actions in one transaction, on a store or on a snapshot of it."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        log: Log,
        *,
        now: datetime,
        keep_days: float,
        counts: CallCounts,
    ) -> None:
        self.log = log
        self.runs = RunList(connection, log, counts)
        self.shapes = Shapes(connection, now=now)
        self.results = Results(connection, now=now, keep_days=keep_days)


class Location(Struct, frozen=True, kw_only=True):
    """The place of a store, and its settings."""

    path: Path
    """The file; made where it is missing, for its owner alone."""

    older: Path | None = None
    """Possible place of a store of an earlier version, whose records a new file takes over."""

    keys: Keys
    """Find the key that states are signed with."""

    keep_days: float
    """How long states stay."""

    patience: float
    """Seconds to wait for another process."""

    clock: Callable[[], datetime]
    """Tells the time."""

    counts: CallCounts = field(default_factory=CallCounts)
    """What is known of the runs from transactions before."""

    def begin(self, connection: sqlite3.Connection) -> Transaction:
        """Return the actions of a transaction on a connection."""
        now = self.clock()
        log = Log(
            connection, keys=self.keys, keep_days=self.keep_days, now=now, owner=this_process()
        )
        return Transaction(connection, log, now=now, keep_days=self.keep_days, counts=self.counts)

    @contextmanager
    def snapshot(self) -> Generator[Transaction]:
        """Read the store as it is at one moment.

        Raises:
            Exception: It cannot be read; `_faults.told` gives the reason in words.
        """
        _provide(self.path, self.older)
        with closing(_connect(self.path, patience=self.patience, reads=True)) as connection:
            connection.execute("BEGIN")
            check_tables(connection, self.path.name)
            yield self.begin(connection)


class Database:
    """A connection to a store, and transactions on it.

    Args:
        location: The store's place.

    Raises:
        Exception: It cannot be opened; `_faults.told` gives the reason in words.
    """

    def __init__(self, location: Location) -> None:
        path, patience = location.path, location.patience
        self._location = location
        self._name = path.name
        self._unmoved = 0
        self._synchronous = ""
        _provide(path, location.older)
        self._checkpoints = CheckpointLock(path, patience=patience)
        try:
            self._connection = _connect(path, patience=patience)
        except BaseException:
            self._checkpoints.close()
            raise
        try:
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma}").close()
            check_tables(self._connection, self._name)
            self._connection.execute(RESULTS).close()
            self._file = _identity(path)
        except BaseException:
            self.close()
            raise

    @contextmanager
    def transaction(self, *, durable: bool) -> Generator[Transaction]:
        """Commit the changes made inside the block, all or none.

        Args:
            durable: Whether they are on the disk afterwards, even if the machine stops.
        """
        with self._committed(durable=durable):
            work = self._location.begin(self._connection)
            yield work
            work.log.settle()
        self._unmoved += (
            4 + (work.log.written + work.shapes.written + work.results.written) // _PAGE
        )

    @contextmanager
    def _committed(self, *, durable: bool) -> Generator[None]:
        wanted = "FULL" if durable else "NORMAL"
        if wanted != self._synchronous:
            self._connection.execute(f"PRAGMA synchronous={wanted}").close()
            self._synchronous = wanted
        with self._checkpoints.commit():
            self._connection.execute("BEGIN IMMEDIATE").close()
            try:
                self._check_file()
                yield
                self._connection.execute("COMMIT").close()
            except BaseException:
                # A full disk has ended the transaction by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK").close()
                raise

    def _check_file(self) -> None:
        """Refuse to write rows that no reader would find."""
        if _identity(self._location.path) != self._file:
            raise StateError(
                f"the store {self._name!r} was deleted or replaced while it was in use",
                hint="leave the state folder as it is while runs go on; later runs begin a new"
                " store",
            )

    def renew(self) -> int:
        """Renew the leases of all runs that this process works on; return how many there are."""
        with self._committed(durable=False):
            return self._location.begin(self._connection).log.renew()

    def tidy(self, *, thoroughly: bool = False) -> None:
        """Move the log into the file, where no process waits and the log is long enough.

        Args:
            thoroughly: Move it in any case; also give free pages back, and remove deleted data from
                the log.
        """
        if not thoroughly and self._unmoved <= _PAGES:
            return
        with self._checkpoints.checkpoint(wait=thoroughly) as alone:
            if alone:
                if thoroughly:
                    self._connection.execute("PRAGMA incremental_vacuum").fetchall()
                kind = "TRUNCATE" if thoroughly else "PASSIVE"
                self._connection.execute(f"PRAGMA wal_checkpoint({kind})").fetchall()
                self._unmoved = 0

    def close(self) -> None:
        """Close the connection; the last one of a file moves its log into it."""
        with self._checkpoints.checkpoint():  # where others commit, this one is not the last
            self._connection.close()
        self._checkpoints.close()

    def abandon(self) -> None:
        """Leave the connection to the parent, in the child of a fork.

        To close it would take the parent's locks away.
        """
        self._checkpoints.close()


def _provide(path: Path, older: Path | None) -> None:
    """See that the file is there, and that others cannot read it.

    Raises:
        OSError: It cannot be made.
        StateError: It is empty, or a folder.
    """
    private_folder(path.parent)
    if not os.path.lexists(path):
        _make(path, older)
    found = path.stat()
    if stat.S_ISDIR(found.st_mode):  # which can be opened for reading
        raise fault(sqlite3.SQLITE_CANTOPEN, path.name)
    if found.st_size == 0 and not path.with_name(f"{path.name}-wal").exists():
        raise StateError(
            f"the store {path.name!r} is damaged: the file is empty",
            hint="delete it (a new store is begun), or put it back from a copy",
        )
    # Never by opening it: closing the file would drop the locks that this process holds.
    for each in (path, *(path.with_name(path.name + suffix) for suffix in _SUFFIXES)):
        with suppress(FileNotFoundError, PermissionError):
            if stat.S_IMODE(each.stat().st_mode) & 0o077:
                each.chmod(0o600)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from every other one; None: no file has this name."""
    try:
        found = path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return found.st_dev, found.st_ino


def _make(path: Path, older: Path | None) -> None:
    """Make the file whole beside its place, and then give it its name."""
    with tempfile.TemporaryDirectory(prefix=".store-", dir=path.parent) as folder:
        draft = Path(folder) / path.name
        os.close(os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
        with closing(_connect(draft, patience=0)) as connection:
            for pragma in ("auto_vacuum=INCREMENTAL", "journal_mode=WAL"):
                connection.execute(f"PRAGMA {pragma}").close()
            connection.execute("BEGIN")
            make_tables(connection)
            if older is not None and older != path:
                import_older(connection, older)
            connection.execute("COMMIT")
            # Closing moves the log into the file as well, but keeps silent where there is no room.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        publish(draft, path)


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables, in the transaction that the connection is in."""
    for statement in TABLES.split(";"):  # `executescript` would commit the open transaction
        connection.execute(statement).close()
    connection.execute("INSERT INTO meta (version) VALUES (?)", (VERSION,)).close()


def check_tables(connection: sqlite3.Connection, name: str) -> None:
    """Refuse a file with tables of another version, or without some of them.

    Raises:
        StateError: A newer version made the store, or another program did; or it is damaged.
    """
    listed = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    found = {table for (table,) in listed}
    if "meta" not in found:
        raise StateError(
            f"{name!r} is a database, but no store of Lineshaft",
            hint="name another place by LINESHAFT_STORE_URL",
        )
    (version,) = connection.execute("SELECT max(version) FROM meta").fetchone()
    if not isinstance(version, int) or version < VERSION:  # no version ever wrote such a number
        raise fault(sqlite3.SQLITE_CORRUPT, name)
    if version != VERSION:
        raise StateError(
            f"the store {name!r} was made by a newer version of Lineshaft (its tables have version"
            f" {version}; this one knows {VERSION})",
            hint="use that version, or name another store by LINESHAFT_STORE_URL",
        )
    if lacking := sorted(NEEDED - found):
        raise damaged(name, f"it lacks {' and '.join(map(repr, lacking))} of its tables")


def _text(data: bytes) -> str:
    """Return a text, also where another program put bytes that are none."""
    return data.decode("utf-8", "replace")


def _connect(path: Path, *, patience: float, reads: bool = False) -> sqlite3.Connection:
    place = f"{path.as_uri()}?mode=ro" if reads else path
    connection = sqlite3.connect(place, timeout=patience, isolation_level=None, uri=reads)
    connection.row_factory = sqlite3.Row
    connection.text_factory = _text
    return connection
