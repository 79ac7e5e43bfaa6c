"""Checks the types of scripts, without running them, in worker processes of its own.

Above: the scripts room, by the `Checker` seam. Below: the type checker inside pydantic-monty. A
session of it is kept for each set of stubs, since the first check of a session takes 20 times as
long as the next. Nothing of a script is executed; a checker that crashes or hangs is replaced,
and its script gets one finding of the code `checker-failed`.
"""

import asyncio
import atexit
import contextlib
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from queue import SimpleQueue
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread

from lineshaft.engines._checker_source import wrap
from lineshaft.values import Diagnostic, Stubs

if TYPE_CHECKING:
    from lineshaft.engines._checker_session import CheckerSession

_Key = tuple[str, tuple[tuple[str, str], ...]]
_Found = tuple[Diagnostic, ...]


class MontyChecker:
    """Implements `values.Checker`. Its processes start with the first check.

    Args:
        kept: How many sets of stubs have a worker at one time.
        seconds: The longest that one check may take.
    """

    def __init__(self, *, kept: int = 3, seconds: float = 10.0) -> None:
        self._kept = kept
        self._seconds = seconds
        self._desks: OrderedDict[_Key, _Desk] = OrderedDict()
        self._retired: set[_Desk] = set()
        self._lock = threading.Lock()
        self._closed = False
        _open.add(self)

    async def check(self, source: str, *, stubs: Stubs, inputs: Mapping[str, str]) -> _Found:
        """Return all that is wrong with a script; see `values.Checker`.

        A cancelled check ends at once for whoever awaits it; its worker goes on to the end of
        what it does, for `seconds` at most.
        """
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[_Found] = loop.create_future()

        def settle(found: _Found) -> None:
            if not answer.done():
                answer.set_result(found)

        def report(found: _Found) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed, nobody waits
                loop.call_soon_threadsafe(settle, found)

        question = _Question(source, inputs, is_dropped=answer.cancelled, report=report)
        if not self._ask(stubs, question):
            return _failed("the type checker is closed")
        return await answer

    async def aclose(self) -> None:
        """End the checker's processes; checks under way get `checker-failed`."""
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(self.close)

    def close(self) -> None:
        """End the checker's processes, from any thread."""
        with self._lock:
            self._closed = True
            desks = [*self._desks.values(), *self._retired]
            self._desks.clear()
            self._retired.clear()
        for desk in desks:
            desk.close()
        for desk in desks:
            desk.thread.join(self._seconds)
        _open.discard(self)

    def _ask(self, stubs: Stubs, question: "_Question") -> bool:
        """Hand a question to the desk of its stubs; False once everything is closed."""
        key = stubs.main, tuple(sorted(stubs.modules.items()))
        with self._lock:
            if self._closed:
                return False
            desk = self._desks.pop(key, None) or _Desk(stubs, self._seconds)
            self._desks[key] = desk  # the one used last stands last
            desk.inbox.put(question)
            self._retired = {old for old in self._retired if old.thread.is_alive()}
            while len(self._desks) > self._kept:
                _, old = self._desks.popitem(last=False)
                old.inbox.put(None)
                self._retired.add(old)
        return True


@dataclass(frozen=True, slots=True)
class _Question:
    """One script to check."""

    source: str
    inputs: Mapping[str, str]
    is_dropped: Callable[[], bool]
    """Whether nobody waits for the answer."""

    report: Callable[[_Found], None]
    """Takes the answer; called from the desk's thread."""


class _Desk:
    """A thread that checks one script after the other against one set of stubs."""

    def __init__(self, stubs: Stubs, seconds: float) -> None:
        self._stubs = stubs
        self._seconds = seconds
        self._lock = threading.Lock()
        self._closed = False
        self._session: CheckerSession | None = None
        self.inbox = SimpleQueue[_Question | None]()
        # A thread that could not be ended must not keep the program from ending.
        self.thread = threading.Thread(target=self._work, name="lineshaft-checker", daemon=True)
        self.thread.start()

    def close(self) -> None:
        """End now: the worker is killed, open questions are answered with a failure."""
        with self._lock:
            self._closed = True
            if self._session:
                self._session.kill()
        self.inbox.put(None)

    def _work(self) -> None:
        while (question := self.inbox.get()) is not None:
            if question.is_dropped():
                continue
            try:
                found = self._answer(question)
            except Exception as error:  # noqa: BLE001  a checker that fails must not stop a script
                found = _failed(f"the type checker failed: {type(error).__name__}: {error}")
            question.report(found)
        if self._session:
            self._session.close()

    def _answer(self, question: _Question) -> _Found:
        # Imported here, off the event loop: it takes 0.1 s, and scripts may go unchecked.
        from lineshaft.engines._checker_session import (  # noqa: PLC0415  see above
            CheckerEnded,
            CheckerSession,
        )

        wrapped = wrap(question.source, stubs=self._stubs, inputs=question.inputs)
        with self._lock:
            if self._closed:
                return _failed("the type checker is closed")
            session = self._session = self._session or CheckerSession(self._stubs, self._seconds)
        try:
            return session.check(wrapped)
        except CheckerEnded as ended:
            if ended.timed_out:
                return _failed(f"the type check took longer than {self._seconds:g} s")
        try:
            return session.check(wrapped)  # the worker may have died while it was idle
        except CheckerEnded:
            return _failed("the type checker ended in the middle of this script")


def _failed(message: str) -> _Found:
    return (Diagnostic(code="checker-failed", message=message, line=1, column=1),)


_open: "weakref.WeakSet[MontyChecker]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A thread that is inside the checker when the interpreter goes away takes it down hard.
    for checker in list(_open):
        checker.close()
