"""The checker of sessions; all checkers of a process share one language server."""

import asyncio
import atexit
import contextlib
import os
import sys
import threading
import weakref
from collections import deque
from collections.abc import Mapping
from itertools import count

import anyio
import anyio.to_thread
from msgspec import field

from lineshaft.checker._module import CheckedModule
from lineshaft.checker._scheduler import Scheduler, ScriptCheck, failed
from lineshaft.values import LATEST_PYTHON, Diagnostic, PythonTarget, Struct, Stubs

_NUMBERS = count(1)
_CLOSED = "the type checker is closed"


class TyChecker:
    """Implements `values.Checker`. The server starts with the first check.

    Safe in any number of threads and event loops, and in a forked child. The server ends with the
    last checker that used it, and with the process, however that ends.

    Args:
        seconds: The longest that one check may take once the server runs.
    """

    def __init__(self, *, seconds: float = 10.0) -> None:
        self._number = next(_NUMBERS)  # an `id` may be reused before its end is known
        self._seconds = seconds
        self._closed = False
        self._open = set[ScriptCheck]()

    async def check(
        self,
        source: str,
        *,
        stubs: Stubs,
        inputs: Mapping[str, str],
        target: PythonTarget = LATEST_PYTHON,
    ) -> tuple[Diagnostic, ...]:
        """Return all problems of a script; see `values.Checker`.

        A check that cannot be made has one finding, of the code `checker-failed`. A cancelled
        one ends at once for its caller; the server goes on to its end, for `seconds` at most.
        """
        if self._closed:
            return failed(_CLOSED)
        check = ScriptCheck(CheckedModule.of(source, inputs), stubs, target, self._seconds)
        self._open.add(check)
        try:
            _shared.scheduler_for(self, self._number).ask(check)
            return await asyncio.wrap_future(check.answer)
        finally:
            self._open.discard(check)

    async def aclose(self) -> None:
        """End the checker's part in the server; checks under way get `checker-failed`."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    def close(self) -> None:
        """Do what `aclose` does, from any thread."""
        self._closed = True
        for check in list(self._open):
            check.fail(_CLOSED)
        _shared.leave(self._number)


class _SharedScheduler(Struct):
    """The scheduler of this process, and the checkers that use it.

    A checker that is forgotten without a close is found by the garbage collection of any thread,
    in the middle of anything: of what holds the lock, or of the start of a thread for which the
    holder waits. So the collection only notes it, and never waits for the lock.
    """

    users: set[int] = field(default_factory=set[int])
    """Numbers of the checkers that used it and were not closed."""

    forgotten: deque[int] = field(default_factory=deque[int])
    """Those of them that are no more."""

    scheduler: Scheduler | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def scheduler_for(self, checker: TyChecker, user: int) -> Scheduler:
        """Return the scheduler, which lives as long as one of its users is not closed."""
        with self.lock:
            if user not in self.users:
                self.users.add(user)
                weakref.finalize(checker, self.forget, user).atexit = False
            if self.scheduler is None:
                self.scheduler = Scheduler()
            scheduler = self.scheduler
        self._tidy()
        return scheduler

    def leave(self, user: int) -> None:
        """Let go of a user; the last one takes the scheduler with it."""
        with self.lock:
            unused = self._without(user)
        if unused is not None:
            unused.close()
        self._tidy()

    def forget(self, user: int) -> None:
        """Let go of a user from within a garbage collection."""
        self.forgotten.append(user)
        self._tidy()

    def end(self) -> None:
        """End the scheduler, used or not."""
        with self.lock:
            ended = self._taken()
        if ended is not None:
            ended.close()

    def _tidy(self) -> None:
        """Release forgotten checkers; a holder of the lock does so when it releases it."""
        while self.forgotten and self.lock.acquire(blocking=False):
            try:
                unused = self._without(self.forgotten.popleft()) if self.forgotten else None
            finally:
                self.lock.release()
            if unused is not None:
                unused.close(wait=False)

    def _without(self, user: int) -> Scheduler | None:
        """Return the scheduler if that was its last user."""
        self.users.discard(user)
        return None if self.users else self._taken()

    def _taken(self) -> Scheduler | None:
        taken, self.scheduler = self.scheduler, None
        return taken

    def begin_anew(self) -> None:
        """Forget the parent's scheduler, in a forked child."""
        inherited = self._taken()
        self.lock = threading.Lock()
        if inherited is not None:
            with contextlib.suppress(OSError):
                inherited.abandon()


_shared = _SharedScheduler()
atexit.register(_shared.end)
if sys.platform != "win32":
    os.register_at_fork(after_in_child=_shared.begin_anew)
