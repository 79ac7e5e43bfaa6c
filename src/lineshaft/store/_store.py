"""The store: the logs of all runs in one file.

Above: sessions, whose runs append rows; commands, which read. Below: one writer thread and a file
of SQLite. No file is opened before first use.
"""

import asyncio
import os
from collections.abc import Awaitable, Callable, Generator, Iterable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Self, TypeVar

import anyio
import anyio.to_thread
from msgspec.structs import replace

from lineshaft.errors import ConfigError, LineshaftError, RecordError, RunUnknown, StateError
from lineshaft.files import private_folder, state_folder
from lineshaft.store import _legacy
from lineshaft.store._checks import damaged_run
from lineshaft.store._database import Database, Location, Transaction
from lineshaft.store._faults import told
from lineshaft.store._json import UNFIT
from lineshaft.store._key import Keys
from lineshaft.store._list import CallCounts
from lineshaft.store._log import Step, step_of
from lineshaft.store._shapes import Merge
from lineshaft.store._summaries import Pruned, RunSummary
from lineshaft.store._writer import WriteJob, Writer
from lineshaft.values import Event, LogRow, ObservedShape, RunClaim, SavedRun, Struct

T = TypeVar("T")

_PATIENCE = 10.0
_STUCK = 30.0
_FILE = "sqlite:///"
_DEFAULT = "runs.db"
_MOST_DAYS = 36_500


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Store:
    """The logs of runs, in one place; safe to use from several threads and processes.

    A `RunLog`, with the questions that only a store on a disk can answer.

    Args:
        where: A file, or its URL: `sqlite:///...`. None: the file `runs.db` in the state folder.
        keep_days: Days for which the state for a replay stays after a run is over.
        keep_mb: Megabytes of results that a run keeps; one with more cannot be paused.
        key: Signs states; None: `LINESHAFT_STATE_KEY`, or the file `key` in the state folder.
        patience: Seconds to wait for another process that writes.
        clock: Gives the time.

    Raises:
        ConfigError: An argument cannot be used.
    """

    def __init__(
        self,
        where: str | Path | None = None,
        *,
        keep_days: float = 7,
        keep_mb: float = 1_000,
        key: bytes | None = None,
        patience: float = _PATIENCE,
        clock: Callable[[], datetime] = _utc_now,
    ) -> None:
        if not 0 <= keep_days <= _MOST_DAYS:
            raise ConfigError(f"keep_days is {keep_days!r}; allowed: 0 to 36,500")
        if not 0 <= keep_mb <= 100_000:
            raise ConfigError(f"keep_mb is {keep_mb!r}; allowed: 0 to 100,000")
        self._where = _place(where)
        self._found: tuple[Path, Path] | None = None
        self._keep_days = keep_days
        self._most_bytes = int(keep_mb * 1_000_000)
        self._keys = Keys(key)
        self._patience = patience
        self._clock = clock
        self._counts = CallCounts()
        self._writer = Writer(self._open, explain=self._explain)
        self._seconds = patience + _STUCK
        self._refused: dict[RunClaim, LineshaftError] = {}
        """Why rows that were not awaited could not be written."""

    def __repr__(self) -> str:
        """Return which store it is."""
        return f"Store({str(self._where)!r})"

    @property
    def keep_days(self) -> float:
        """Days for which the state for a replay or an undo stays after a run is over."""
        return self._keep_days

    @property
    def most_bytes(self) -> int:
        """As `RunLog.most_bytes`."""
        return self._most_bytes

    def ready(self) -> None:
        """Make the folder of a file, and see that it can be written, before anything runs.

        Raises:
            ConfigError: It cannot.
        """
        path, _ = self._places()
        places = (private_folder(path.parent), *([path] if os.path.lexists(path) else []))
        for place in places:
            if not os.access(place, os.R_OK | os.W_OK):
                raise ConfigError(
                    f"the store {path.name!r} cannot be written: {str(place)!r} is read-only",
                    hint="name another place by LINESHAFT_STORE_URL, or set XDG_STATE_HOME",
                )

    def append(
        self, claim: RunClaim, rows: Sequence[LogRow], *, durable: bool = False
    ) -> Awaitable[None]:
        """As `RunLog.append`: it only queues."""
        exact = over = ends = False
        for row in rows:
            exact = exact or row.exact is not None
            over = over or row.kind in ("checkpoint", "end")
            ends = ends or row.kind == "end"
        steps: list[Step] = []
        size = 0
        try:
            if not durable:  # else it is tried, and the caller gets the error
                self._writer.check()
            if (refused := self._refused.get(claim)) is not None:
                raise refused
            for row in rows:
                step = step_of(row)
                steps.append(step)
                size += step.size
        except UNFIT as error:  # the run that it is of hears of it, and no other
            text = f"a step holds what cannot be written: {type(error).__name__}"
            raise RecordError(text) from error
        except StateError as error:
            if ends and not steps:
                with suppress(*UNFIT):  # such an end could not be written later either
                    self._end_later(claim, rows)
            if exact:
                raise
            raise RecordError(error.message, hint=error.hint) from error

        def act(transaction: Transaction) -> None:
            transaction.log.append(claim, steps)

        work = WriteJob(
            act=act,
            durable=durable,
            keep=not durable,
            urgent=durable or over,
            size=size,
        )
        written = self._writer.ask(work)
        if not durable:
            written.add_done_callback(partial(self._notice, claim))
        return _Durable(written, self._seconds)

    def _end_later(self, claim: RunClaim, rows: Sequence[LogRow]) -> None:
        """Keep the end of a run for a store that cannot be written now.

        Without it the run goes on in the record for as long as this process lives. Steps before it
        are lost, so that it cannot be executed again.
        """
        steps = [step_of(replace(row, exact={})) for row in rows if row.kind == "end"]

        def act(transaction: Transaction) -> None:
            if transaction.log.row(claim.run_id) is not None:  # its beginning was not lost
                transaction.log.append(claim, steps)

        size = sum(step.size for step in steps)
        self._writer.ask_if_room(WriteJob(act=act, keep=True, urgent=False, size=size))

    async def take(self, run_id: str) -> tuple[SavedRun, RunClaim]:
        """As `RunLog.take`."""
        taken: dict[str, RunClaim] = {}

        def act(work: Transaction) -> tuple[SavedRun, RunClaim]:
            saved, taken[run_id] = work.log.take(run_id)
            return saved, taken[run_id]

        def failed() -> bool:
            return answer.done() and answer.exception() is not None

        def give_back(work: Transaction) -> None:
            if not failed():
                work.log.give_back(taken[run_id])

        answer = self._writer.ask(WriteJob(act=act, durable=True))
        try:
            return await _answer(answer, self._seconds)
        except BaseException:  # the writer takes it all the same, where only the wait has ended
            if not failed():
                self._writer.ask(WriteJob(act=give_back))
            raise

    def give_back(self, claim: RunClaim) -> Awaitable[None]:
        """As `RunLog.give_back`."""
        written = self._writer.ask(
            WriteJob(act=lambda work: work.log.give_back(claim), durable=True)
        )
        return _Durable(written, self._seconds)

    async def renew(self) -> int:
        """As `RunLog.renew`; the writer's thread does it by itself, too."""
        return await self._do(lambda work: work.log.renew())

    async def tail(self, run_id: str, after: int = 0) -> list[Event]:
        """As `RunLog.tail`, without the end that the record of a dead process lacks."""
        return await self._read(lambda work: work.log.events(run_id, after))

    async def forget(self, run_ids: Iterable[str]) -> int:
        """As `RunLog.forget`."""
        which = tuple(run_ids)
        return await self._do(lambda work: work.log.forget(which))

    async def load(self, run_id: str) -> SavedRun:
        """As `RunLog.load`; a run that goes on in another process is read as it stands."""
        return await self._read(lambda work: work.log.load(run_id))

    async def cancel(self, run_id: str) -> None:
        """End a run that waits or was interrupted: its record gets an end, its state goes.

        Raises:
            StateError: As for `take`.
        """
        await self._do(lambda work: work.log.cancel(run_id), durable=True)

    async def find(self, prefix: str | None, *, workspace: str | None = None) -> str:
        """Return the id of a run.

        Args:
            prefix: The id, its beginning or its end; None: the run with the newest event.
            workspace: The workspace to search; the beginning of an id is searched elsewhere too.

        Raises:
            RunUnknown: There is none, or there are several.
        """
        return await self._read(lambda work: work.runs.find(prefix, workspace))

    async def runs(self, *, workspace: str | None = None, limit: int = 50) -> list[RunSummary]:
        """Return the newest runs, the newest first."""
        return await self._read(lambda work: work.runs.newest(workspace, limit))

    async def summary(self, run_id: str) -> RunSummary:
        """Return the summary of one run.

        Raises:
            RunUnknown: It has no record.
            UntrustedState: Its row is damaged.
        """
        found = await self._read(lambda work: work.runs.newest(None, 1, run_id=run_id))
        if not found or found[0].run_id != run_id:
            raise RunUnknown(f"no run {run_id!r} is recorded")
        if found[0].status == "damaged":
            raise damaged_run(run_id)
        return found[0]

    async def events(self, run_id: str) -> list[Event]:
        """Return the record of a run.

        Raises:
            RunUnknown: There is none.
            RecordError: It is damaged.
        """

        def read(work: Transaction) -> list[Event]:
            found, run = work.log.events(run_id), work.log.row(run_id)
            return found if run is None else found + work.log.ends(run)

        return await self._read(read)

    async def prune(self, *, days: float | None = None) -> Pruned:
        """Delete states whose time is over, and old records.

        Args:
            days: Runs that were over so many days ago are forgotten whole, 0 to 36,500; None:
                records stay.

        Raises:
            ConfigError: There are no such days.
        """
        if days is not None and not 0 <= days <= _MOST_DAYS:
            raise ConfigError(f"days is {days!r}; allowed: 0 to 36,500")

        def act(work: Transaction) -> Pruned:
            states = work.log.look_after()
            work.log.settle()
            work.results.forget_expired()
            if days is None:
                return Pruned(records=0, states=states)
            old = work.log.older(self._clock() - timedelta(days=days))
            states += work.log.forget(old)
            work.shapes.forget_before(self._clock() - timedelta(days=days))
            return Pruned(records=len(old), states=states, run_ids=tuple(old))

        return await self._do(act, thoroughly=True)

    def observe(self, workspace: str | Path, seen: ObservedShape, merge: Merge) -> None:
        """Add observations of a tool's results; it only queues, and raises nothing.

        They are left out where much waits to be written.

        Args:
            workspace: Its real path, or another name for it.
            seen: The observations since the last call for the tool.
            merge: Makes one schema of two.
        """
        name = str(workspace)

        def act(work: Transaction) -> None:
            work.shapes.add(name, seen, merge)

        self._writer.ask_if_room(WriteJob(act=act, keep=True, urgent=False))

    def keep_result(self, handle: str, text: str) -> None:
        """Keep a text that was too long for a model; it only queues, and raises nothing.

        It is left out where much waits to be written, as on a disk that is full.

        Args:
            handle: What it is found by; unguessable, since it is all that a reader needs.
            text: Redacted.
        """

        def act(work: Transaction) -> None:
            work.results.add(handle, text)

        self._writer.ask_if_room(WriteJob(act=act, keep=True, urgent=False, size=len(text)))

    async def result_text(self, handle: str) -> str | None:
        """Return a text that `keep_result` was given; None: it is unknown, or its time is over.

        Raises:
            StateError: The store cannot be read.
        """
        return await self._read(lambda work: work.results.get(handle))

    async def shapes(self, workspace: str | Path) -> list[ObservedShape]:
        """Return the observed results of tools in a workspace.

        Raises:
            StateError: The store cannot be read.
        """
        return await self._read(lambda work: work.shapes.all(str(workspace)))

    async def forget_shapes(self, workspace: str | Path, tools: Iterable[str] | None = None) -> int:
        """Forget the observed results of some tools, or of all; return the number of tools.

        Raises:
            StateError: The store cannot be written.
        """
        names = None if tools is None else tuple(tools)
        return await self._do(lambda work: work.shapes.forget(str(workspace), names))

    async def flush(self) -> None:
        """Wait until all rows that were handed over are written.

        Raises:
            StateError: They cannot be.
        """
        await self._do(lambda _: None)

    async def aclose(self) -> None:
        """Write queued rows and close the database; the store can be used again afterwards.

        Raises:
            RecordError: A row could not be written, and no caller got the error so far.
        """
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    def close(self) -> None:
        """Do the same, for a caller without an event loop."""
        self._writer.close(self._seconds)

    async def __aenter__(self) -> Self:
        """Return the store itself."""
        return self

    async def __aexit__(self, *error: object) -> None:
        """Close it."""
        await self.aclose()

    async def _do(
        self, act: Callable[[Transaction], T], *, durable: bool = False, thoroughly: bool = False
    ) -> T:
        """Do work in a transaction and wait until it is committed.

        It is done, too, where the caller is cancelled meanwhile.

        Raises:
            LineshaftError: The work raised it.
            StateError: The store cannot do it, or does not answer.
        """
        work = WriteJob(act=act, durable=durable, thoroughly=thoroughly)
        return await _answer(self._writer.ask(work), self._seconds)

    def _notice(self, claim: RunClaim, written: "Future[None]") -> None:
        error = written.exception()
        if isinstance(error, LineshaftError):
            self._refused[claim] = error

    def _open(self) -> Database:
        return Database(self._location())

    async def _read(self, look: Callable[[Transaction], T]) -> T:
        """Read in a snapshot that has all rows handed over before.

        Raises:
            LineshaftError: Reading raised it.
            StateError: The store cannot be read, or does not answer.
        """
        if self._writer.waits:
            await self.flush()

        def read() -> T:
            try:
                with self._location().snapshot() as transaction:
                    return look(transaction)
            except (StateError, RecordError):
                raise
            except Exception as error:  # any exception is put in words
                raise self._explain(error) from error

        with anyio.move_on_after(self._seconds):
            return await anyio.to_thread.run_sync(read, abandon_on_cancel=True)
        raise _no_answer(self._seconds)

    def _location(self) -> Location:
        path, older = self._places()
        return Location(
            path=path,
            older=older,
            keys=self._keys,
            keep_days=self._keep_days,
            patience=self._patience,
            clock=self._clock,
            counts=self._counts,
        )

    def _places(self) -> tuple[Path, Path]:
        """Return the file, and the possible place of a store of an earlier version."""
        if self._where is None:
            return state_folder() / _DEFAULT, state_folder() / _legacy.NAME
        if self._found is None:
            self._found = _legacy.place_of(self._where)
        return self._found

    def _explain(self, error: Exception) -> StateError:
        return told(error, (self._where or Path(_DEFAULT)).name)


class _Durable(Struct, frozen=True):
    """Rows that were handed over; awaiting it waits until they are committed."""

    written: "Future[None]"
    seconds: float

    def __await__(self) -> Generator[object, None, None]:
        return _answer(self.written, self.seconds).__await__()


async def _answer(future: "Future[T]", seconds: float) -> T:
    """Return the writer's answer.

    Raises:
        StateError: It does not answer in time.
    """
    waiting = asyncio.wrap_future(future)
    waiting.add_done_callback(_seen)
    with anyio.move_on_after(seconds):
        return await asyncio.shield(waiting)
    raise _no_answer(seconds)


def _seen(future: "asyncio.Future[T]") -> None:
    if not future.cancelled():
        future.exception()


def _no_answer(seconds: float) -> StateError:
    return StateError(
        f"the store gave no answer within {seconds:g} s", hint="look at the disk that it lies on"
    )


def _place(where: str | Path | None) -> Path | None:
    """Return the file of a store, or None for the default.

    Raises:
        ConfigError: It is no file; the message omits a URL, which may hold a password.
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
    try:
        path = Path(where).expanduser()
    except RuntimeError:
        message = f"{str(where)!r} is not the name of a file: there is no such user"
        raise ConfigError(message, hint="write the whole path of the file") from None
    if not str(where).strip() or "\0" in str(where):
        raise ConfigError(f"{where!r} is not the name of a file")
    return path.absolute()


def _kind(url: str) -> str:
    """Return the kind of database that a URL names: only a word at its beginning."""
    scheme = url.partition("://")[0].partition("+")[0]
    return f"a {scheme} database" if scheme.isalnum() else "this URL"
