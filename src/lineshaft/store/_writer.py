"""The one thread that writes to the database: work is queued, and committed in groups.

Above: the store, from any thread and any event loop. Below: the database, which is opened at first
    need, so that a run without rows makes no file.
"""

import atexit
import os
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from itertools import chain
from typing import Any, Generic, TypeVar

from msgspec import field

from lineshaft.errors import LineshaftError, RecordError, StateError
from lineshaft.store._database import Database, Transaction
from lineshaft.store._json import UNFIT
from lineshaft.values import Struct

T = TypeVar("T")

_LINGER = 0.05
"""Rows that come within so many seconds are committed together."""

_AGAIN = 1.0
"""Seconds until a failed write is tried again."""

_RENEWAL = 10.0
"""Leases are renewed after so many seconds, well before they end."""

_MOST_BYTES = 64_000_000
"""Bytes, about, that may wait in memory."""

_WORK_BYTES = 10_000


class WriteJob(Struct, Generic[T], kw_only=True, eq=False):
    """Work to do in a transaction."""

    act: Callable[[Transaction], T]
    durable: bool = False
    thoroughly: bool = False
    """Tidy up afterwards, before it is answered."""

    answer: Future[T] = field(default_factory=Future[T])
    keep: bool = False
    """No caller waits for it: it is tried again where it could not be written."""

    size: int = _WORK_BYTES
    """About how many bytes wait with it."""

    urgent: bool = True
    """It is not grouped with work of the next moment."""

    def do(self, transaction: Transaction) -> Callable[[], None]:
        """Do it; return a function that tells its waiter, once it is committed."""
        try:
            result = self.act(transaction)
        except LineshaftError as error:
            failed = error
            return lambda: self.answer.set_exception(failed)
        return lambda: self.answer.set_result(result)


class Writer:
    """Queues, groups and commits.

    Args:
        open_: Opens the database; called in the writer's thread.
        explain: Puts an exception of the database in words.
        renewal: Seconds after which leases are renewed.
    """

    def __init__(
        self,
        open_: Callable[[], Database],
        *,
        explain: Callable[[Exception], StateError],
        renewal: float = _RENEWAL,
    ) -> None:
        self._open = open_
        self._explain = explain
        self._renewal = renewal
        self._set_up()
        _WRITERS.add(self)

    def check(self) -> None:
        """Refuse further rows where earlier ones cannot be written, or too many wait.

        Raises:
            StateError: Rows are refused.
        """
        failure = self._failure
        if failure is not None:
            self._told = True
            self._nudge()  # it may have passed by now
            raise failure
        if self._bytes > _MOST_BYTES:
            raise StateError(
                f"the store does not keep up: {len(self._queue):,} steps wait to be written",
                hint="look at the disk that it lies on",
            )

    def ask_if_room(self, work: WriteJob[Any]) -> None:
        """Take work that may be left out: it leaves half of the room to the steps of runs."""
        with self._lock:
            waiting = self._bytes + self._writing_bytes
        if not waiting or waiting + work.size <= _MOST_BYTES // 2:
            self.ask(work)

    def ask(self, work: WriteJob[T]) -> Future[T]:
        """Take work that is waited for, or that is only to be kept."""
        with self._lock:
            self._queue.append(work)
            self._bytes += work.size
        if work.urgent:
            self._urgent.set()
        if self._thread is None or not self._wake.is_set():
            self._nudge()
        return work.answer

    @property
    def waits(self) -> bool:
        """Whether work that was handed over is not yet written."""
        return bool(self._queue) or self._writing

    def close(self, seconds: float) -> None:
        """Write queued work, and end the thread; further use begins anew.

        Args:
            seconds: The longest wait.

        Raises:
            RecordError: A row could not be written, and no caller got the error so far.
        """
        if self._thread is None and self._queue and not self._closing:
            self._begin()  # no thread could be started so far
        thread, self._closing = self._thread, True
        if thread is not None:
            self._urgent.set()
            self._wake.set()
            thread.join(seconds)
            if thread.is_alive():
                raise RecordError(
                    f"the store did not write the last steps within {seconds:g} s",
                    hint="look at the disk that it lies on",
                )
        failure = self._failure
        if failure is not None and self._queue and not self._told:
            self._told = True
            raise RecordError(failure.message, hint=failure.hint)

    def forked(self) -> None:
        """Begin anew in the child of a fork: queued work is the parent's to write."""
        if self._database is not None:
            self._database.abandon()
            _ABANDONED.append(self._database)
        self._set_up()

    def _set_up(self) -> None:
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._urgent = threading.Event()
        self._queue: deque[WriteJob[Any]] = deque()
        self._bytes = 0
        self._writing = False
        self._writing_bytes = 0
        self._closing = False
        self._failure: StateError | None = None
        self._told = False
        """A caller got the error of the failure."""

        self._database: Database | None = None
        self._renew_at: float | None = None
        """When leases are to be renewed, by the clock of this process; None: there are none."""

        self._thread: threading.Thread | None = None

    def _nudge(self) -> None:
        if self._thread is None:
            self._begin()
        self._wake.set()

    def _begin(self) -> None:
        """Start the thread; where the system allows no further one, the waiters hear of it."""
        with self._lock:
            if self._thread is not None:
                return
            self._closing = False
            thread = threading.Thread(target=self._live, name="lineshaft-store", daemon=True)
            try:
                thread.start()
            except RuntimeError as error:
                failure = self._explain(error)
            else:
                self._thread, self._failure, self._told = thread, None, False
                return
        group = self._take()
        self._writing = False
        self._fail(group, failure)

    def _live(self) -> None:
        while not self._is_over():
            self._wake.wait(self._rest())
            self._wake.clear()
            if not self._closing:
                self._urgent.wait(_LINGER)
            group = self._take()
            if group:
                self._write(group)
            self._writing = False
            self._writing_bytes = 0
            self._renew()
        self._shut()

    def _rest(self) -> float | None:
        """Return the seconds until the next task, unless work comes."""
        if self._queue:
            return _AGAIN
        return None if self._renew_at is None else max(self._renew_at - time.monotonic(), 0)

    def _renew(self) -> None:
        """Renew leases where that is due; an error is reported with the next write."""
        if self._renew_at is None or time.monotonic() < self._renew_at:
            return
        try:
            self._database = self._database or self._open()
            held, wait = self._database.renew(), self._renewal
        except Exception:  # noqa: BLE001  any failure is tried again
            self._shut()
            held, wait = 1, _AGAIN
        self._renew_at = time.monotonic() + wait if held else None

    def _is_over(self) -> bool:
        """Return whether the thread is to end; later work then starts another."""
        with self._lock:
            over = self._closing and not (self._queue and self._failure is None)
            if over:
                self._thread = None
                self._wake.clear()
            return over

    def _take(self) -> list[WriteJob[Any]]:
        with self._lock:
            self._urgent.clear()
            group = list(self._queue)
            self._writing = bool(group)
            self._queue.clear()
            self._writing_bytes, self._bytes = self._bytes, 0
        return group

    def _write(self, group: Sequence[WriteJob[Any]]) -> None:
        """Commit a group; work of it that can never be written is left out."""
        parts = deque([group])
        while parts:
            part = parts.popleft()
            try:
                answers = self._commit(part)
            except Exception as error:  # noqa: BLE001  the waiter gets any exception
                failure = self._explain(error)
                if not self._is_unfit(error):
                    self._shut()
                    self._fail([*part, *chain.from_iterable(parts)], failure)
                    return
                if len(part) > 1:
                    parts.extendleft([item] for item in reversed(part))
                else:
                    part[0].answer.set_exception(failure)
                continue
            if any(work.thoroughly for work in part):
                self._tidy(thoroughly=True)
            for answer in answers:
                answer()
        self._tidy()

    def _commit(self, group: Sequence[WriteJob[Any]]) -> Sequence[Callable[[], None]]:
        """Do all of a group in one transaction; return the functions that tell the waiters."""
        durable = any(work.durable for work in group)
        if self._database is None:
            self._database = self._open()
        with self._database.transaction(durable=durable) as transaction:
            answers = [work.do(transaction) for work in group]
        self._failure, self._told = None, False
        if self._renew_at is None:  # the group may have begun a run
            self._renew_at = time.monotonic() + self._renewal
        return answers

    def _is_unfit(self, error: Exception) -> bool:
        """Return whether an error is about the data to write, and not about the store."""
        return self._database is not None and isinstance(error, UNFIT)

    def _tidy(self, *, thoroughly: bool = False) -> None:
        try:
            if self._database is not None:
                self._database.tidy(thoroughly=thoroughly)
        except Exception:  # noqa: BLE001  all is written; the next group reports the error
            self._shut()

    def _fail(self, group: Sequence[WriteJob[Any]], failure: StateError) -> None:
        """Tell the waiters, and put the rest back."""
        self._failure = failure
        kept = [work for work in group if work.keep]
        with self._lock:
            self._queue.extendleft(reversed(kept))
            self._bytes += sum(work.size for work in kept)
            self._writing_bytes = 0
        for work in group:
            if not work.keep:
                self._told = True
                work.answer.set_exception(failure)

    def _shut(self) -> None:
        database, self._database = self._database, None
        try:
            if database is not None:
                database.close()
        except Exception:  # noqa: BLE001, S110  the error of closing is known already
            pass


_WRITERS: "weakref.WeakSet[Writer]" = weakref.WeakSet()
_ABANDONED: list[Database] = []
_LAST_SECONDS = 5.0


@atexit.register
def _write_the_rest() -> None:
    """Write queued work of stores that were not closed."""
    for writer in list(_WRITERS):
        try:
            writer.close(_LAST_SECONDS)
        except RecordError:
            continue


def _forked() -> None:
    for writer in list(_WRITERS):
        writer.forked()


if sys.platform != "win32" and hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
