"""The store: the record of every run, and apart from it what is kept of runs that may go on.

Above: sessions, which hand over events and what is to be kept; commands, which read. Below: one
writer thread and a file of SQLite. Nothing is opened before first use.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Self, TypeVar

import anyio.to_thread

from lineshaft.errors import ConfigError, RecordError, RunUnknown, StateError
from lineshaft.store._asking import Desk, no_answer
from lineshaft.store._books import Books
from lineshaft.store._database import Database, Location, OlderTables
from lineshaft.store._faults import told
from lineshaft.store._key import Keys
from lineshaft.store._places import private_folder, state_folder
from lineshaft.store._run_state import KeptState, finished_row
from lineshaft.store._shapes import Merge
from lineshaft.store._summaries import Pruned, RunSummary
from lineshaft.store._texts import call_data
from lineshaft.store._writer import Work, Writer
from lineshaft.values import (
    Done,
    Event,
    KeptCall,
    KeptPause,
    KeptRun,
    ObservedShape,
    RunState,
    SavedRun,
    Sink,
)

T = TypeVar("T")

_PATIENCE = 10.0
_STUCK = 30.0
_FILE = "sqlite:///"
_DEFAULT = "store.db"


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Store:
    """Records and states of runs, in one place; safe to use from several threads and processes.

    Args:
        where: A file, or its URL: `sqlite:///...`. None: the file `store.db` in the state folder.
        keep_days: How long what a replay needs stays after a run is over.
        key: Signs states; None: `LINESHAFT_STATE_KEY`, or the file `key` in the state folder.
        patience: Seconds to wait for another process that writes.
        clock: Tells the time.

    Raises:
        ConfigError: An argument cannot be used.
    """

    def __init__(
        self,
        where: str | Path | None = None,
        *,
        keep_days: float = 7,
        key: bytes | None = None,
        patience: float = _PATIENCE,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        if not 0 <= keep_days <= 36_500:
            raise ConfigError(f"keep_days is {keep_days!r}; allowed: 0 to 36,500")
        self._where = _place(where)
        self._keep_days = keep_days
        self._keys = Keys(key)
        self._patience = patience
        self._clock = clock
        self._writer = Writer(self._open, explain=self._explain)
        self._seconds = patience + _STUCK
        self._desk = Desk(self._writer, seconds=self._seconds)

    def __repr__(self) -> str:
        """Return which store it is."""
        return f"Store({str(self._where)!r})"

    @property
    def keep_days(self) -> float:
        """How long what a replay or an undo needs stays after a run is over."""
        return self._keep_days

    def ready(self) -> None:
        """Make the folder of a file, and see that it can be written, before anything runs.

        Raises:
            ConfigError: It cannot.
        """
        path = self._path()
        places = (private_folder(path.parent), *([path] if os.path.lexists(path) else []))
        for place in places:
            if not os.access(place, os.R_OK | os.W_OK):
                raise ConfigError(
                    f"the store {path.name!r} cannot be written: {str(place)!r} is read-only",
                    hint="name another place by LINESHAFT_STORE_URL, or set XDG_STATE_HOME",
                )

    def sink(self, workspace: str | Path) -> Sink:
        """Return a sink that records the events of any run in a workspace.

        It only queues; what it raises is a `RecordError` about what came before.

        Args:
            workspace: The real path of its root, or another name for it.
        """
        name, put = str(workspace), self._writer.put

        def record(event: Event) -> None:
            put(name, event)

        return record

    async def begin(
        self,
        run: KeptRun,
        *,
        calls: Sequence[tuple[KeptCall, Done]] = (),
        pause: KeptPause | None = None,
    ) -> RunState:
        """Begin to keep a run; on the disk when this returns.

        Args:
            run: What it was begun with.
            calls: What ended before, in this order.
            pause: Where it stands; None: it goes on.

        Raises:
            StateError: It cannot be kept.
        """

        def act(books: Books) -> int:
            books.states.look_after()
            lock = books.states.begin(run)
            for call, done in calls:
                row = finished_row(call_data(call), None, done)
                books.states.append(run.run_id, lock, "finished", row)
            if pause is not None:
                books.states.pause(run.run_id, lock, pause)
            return lock

        return self._state(run.run_id, await self._desk.ask(act, durable=True))

    async def resume(self, run_id: str) -> tuple[SavedRun, RunState]:
        """Take a run that waits, or whose host died, for this process; one of several gets it.

        Raises:
            RunUnknown: Nothing is kept of it.
            RunBusy: A living process works on it, or it is over.
            StateExpired: It was kept for a time that is over.
            UntrustedState: It is not what was kept, or the key is missing.
            StateError: Another version kept it, or the store cannot be used.
        """
        saved, lock = await self._desk.ask(lambda books: books.states.take(run_id), durable=True)
        return saved, self._state(run_id, lock)

    async def saved(self, run_id: str) -> SavedRun:
        """Return what is kept of a run, for a replay; raises as `resume` does, but never `RunBusy`.

        A run that goes on in another process is read as it stands.
        """
        return await self._read(lambda books: books.states.load(run_id))

    async def cancel(self, run_id: str) -> None:
        """End a run that waits or was interrupted: its record gets an end, its state goes.

        Raises:
            StateError: As for `resume`.
        """
        await self._desk.ask(lambda books: books.states.cancel(run_id), durable=True)

    async def find(self, prefix: str | None, *, workspace: str | None = None) -> str:
        """Return the id of a run.

        Args:
            prefix: The id, or its beginning; None: the run with the newest event.
            workspace: Where to look; the beginning of an id is looked for elsewhere too.

        Raises:
            RunUnknown: There is none, or there are several.
        """
        return await self._read(lambda books: books.record.find(prefix, workspace))

    async def runs(self, *, workspace: str | None = None, limit: int = 50) -> list[RunSummary]:
        """Return the newest runs, the newest first."""
        return await self._read(
            lambda books: books.record.runs(workspace, limit, ends=books.states.ends)
        )

    async def summary(self, run_id: str) -> RunSummary:
        """Return how one run stands.

        Raises:
            RunUnknown: Nothing is recorded of it.
        """

        def find(books: Books) -> list[RunSummary]:
            return books.record.runs(None, 1, ends=books.states.ends, run_id=run_id)

        found = await self._read(find)
        if not found or found[0].run_id != run_id:
            raise RunUnknown(f"no run {run_id!r} is recorded")
        return found[0]

    async def events(self, run_id: str) -> list[Event]:
        """Return the record of a run.

        Raises:
            RunUnknown: There is none.
            RecordError: It is damaged.
        """
        return await self._read(
            lambda books: books.record.events(run_id) + books.states.ends(run_id)
        )

    async def prune(self, *, days: float | None = None) -> Pruned:
        """Delete states whose time is over, and old records.

        Args:
            days: Runs that were over so long ago are forgotten whole; None: records stay.
        """

        def act(books: Books) -> Pruned:
            states = books.states.look_after()
            if days is None:
                return Pruned(records=0, states=states)
            old = books.record.older(self._clock() - timedelta(days=days))
            states += books.states.forget(old)
            books.shapes.forget_before(self._clock() - timedelta(days=days))
            books.record.forget(old)
            return Pruned(records=len(old), states=states, run_ids=tuple(old))

        return await self._desk.ask(act, thoroughly=True)

    def observe(self, workspace: str | Path, seen: ObservedShape, merge: Merge) -> None:
        """Add to what is known of a tool's results; it only queues, and raises nothing.

        Args:
            workspace: As for `sink`.
            seen: What was seen since this was called last for the tool.
            merge: Makes one schema of two.
        """
        name = str(workspace)

        def act(books: Books) -> None:
            books.shapes.add(name, seen, merge)

        self._writer.ask(Work(act=act, keep=True))

    async def shapes(self, workspace: str | Path) -> list[ObservedShape]:
        """Return what results of tools looked like in a workspace.

        Raises:
            StateError: The store cannot be read.
        """
        return await self._read(lambda books: books.shapes.all(str(workspace)))

    async def forget_shapes(self, workspace: str | Path, tools: Iterable[str] | None = None) -> int:
        """Forget what results of some tools looked like, or of all; return of how many.

        Raises:
            StateError: The store cannot be written.
        """
        names = None if tools is None else tuple(tools)
        return await self._desk.ask(lambda books: books.shapes.forget(str(workspace), names))

    async def flush(self) -> None:
        """Wait until all events and states that were handed over are written.

        Raises:
            StateError: They cannot be.
        """
        await self._desk.flush()

    async def aclose(self) -> None:
        """Write what waits and close the database; the store can be used again afterwards.

        Raises:
            RecordError: Something could not be written, and nobody was told of it so far.
        """
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    def close(self) -> None:
        """Do the same, for who has no event loop."""
        self._writer.close(self._seconds)

    async def __aenter__(self) -> Self:
        """Return the store itself."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it."""
        await self.aclose()

    def _state(self, run_id: str, lock: int) -> KeptState:
        return KeptState(Desk(self._writer, seconds=self._seconds), run_id, lock)

    def _open(self) -> Database:
        return Database(self._location())

    async def _read(self, look: Callable[[Books], T]) -> T:
        """Read in a snapshot, in which all is written that was handed over before.

        Raises:
            LineshaftError: What reading raised.
            StateError: The store cannot be read, or gives no answer.
        """
        if self._writer.waits:
            await self._desk.flush()
        try:
            return await self._look(look)
        except OlderTables:
            await self._desk.flush()  # which gives it those of this version
            return await self._look(look)

    async def _look(self, look: Callable[[Books], T]) -> T:
        def read() -> T:
            try:
                with self._location().snapshot() as books:
                    return look(books)
            except (StateError, RecordError, OlderTables):
                raise
            except Exception as error:  # whatever it is, it is said in words
                raise self._explain(error) from error

        with anyio.move_on_after(self._seconds):
            return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
        raise no_answer(self._seconds)

    def _location(self) -> Location:
        return Location(
            path=self._path(),
            keys=self._keys,
            keep_days=self._keep_days,
            patience=self._patience,
            clock=self._clock,
        )

    def _path(self) -> Path:
        return self._where or state_folder() / _DEFAULT

    def _explain(self, error: Exception) -> StateError:
        return told(error, (self._where or Path(_DEFAULT)).name)


def _place(where: str | Path | None) -> Path | None:
    """Return the file of a store, or None for the default.

    Raises:
        ConfigError: It is no file; what a URL holds is not said, since that may be a password.
    """
    if where is None:
        return None
    if isinstance(where, str) and "://" in where:
        if not where.startswith("sqlite:"):
            raise ConfigError(
                f"a store is a file so far, and {_kind(where)} is none: runs are not yet shared"
                " between machines",
                hint="name a file, such as sqlite:////var/lib/lineshaft.db",
            )
        if not where.startswith(_FILE) or "?" in where or len(where) == len(_FILE):
            raise ConfigError(
                f"{where!r} is not the URL of a file", hint="such as sqlite:////var/lib/runs.db"
            )
        where = where.removeprefix(_FILE)
    path = Path(where).expanduser()
    if not str(where).strip() or "\0" in str(where):
        raise ConfigError(f"{where!r} is not the name of a file")
    return path.absolute()


def _kind(url: str) -> str:
    """Return what a URL leads to: nothing of it but a word that it begins with."""
    scheme = url.partition("://")[0].partition("+")[0]
    return f"a {scheme} database" if scheme.isalnum() else "this URL"
