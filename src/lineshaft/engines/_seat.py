"""A run's place at a worker process: taken, given up while it waits, taken back, left."""

import os
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

from pydantic_monty import FunctionSnapshot, FutureSnapshot, MontyError, MontySession

from lineshaft.engines._desk import Postbox, Signal, Stopped
from lineshaft.engines._signals import unsignalled
from lineshaft.engines._slots import Slots

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)

T = TypeVar("T")


class Seat:
    """One run's place. Methods are for its thread, except where they say otherwise."""

    def __init__(self, slots: Slots, box: Postbox, checkout: Callable[[], MontySession]) -> None:
        self._slots = slots
        self._box = box
        self._checkout = checkout
        self._lock = threading.Lock()
        self._session: MontySession | None = None
        self._pid: int | None = None
        self._seated = False
        self._busy = False
        self._stopping = False

    def take(self) -> MontySession:
        """Return a fresh session, as soon as a worker is free for it.

        Raises:
            Stopped: The run was cancelled.
        """
        if not self._slots.ask(self):
            self._wait_for_worker()
        self._seated = True
        with self._lock:
            if self._stopping:
                raise Stopped
        with unsignalled():
            session = self._checkout()
            session.__enter__()
        with self._lock:
            self._session = session
            self._pid = session.worker_pid
            if self._stopping:
                raise Stopped
        return session

    def _wait_for_worker(self) -> None:
        try:
            while self._box.receive() is not Signal.GRANT:
                pass
        except Stopped:
            if not self._slots.withdraw(self):
                self._slots.give_back(self)
            raise

    def leave(self) -> None:
        """Give the session and the worker back."""
        with self._lock:
            session, self._session, self._pid = self._session, None, None
        if session is not None:
            with suppress(MontyError):
                session.__exit__(None, None, None)
        if self._seated:
            self._seated = False
            self._slots.give_back(self)

    def turn(self, act: Callable[..., T], *arguments: object, **options: object) -> T:
        """Let the script go on.

        Raises:
            Stopped: The run was cancelled.
        """
        with self._lock:
            if self._stopping:
                raise Stopped
            self._busy = True
        try:
            return act(*arguments, **options)
        finally:
            with self._lock:
                self._busy = False

    def park(self, snapshot: FunctionSnapshot | FutureSnapshot) -> bytes:
        """Give the worker up; return what is needed to go on."""
        dump = self.turn(snapshot.dump)
        self.leave()
        return dump

    def idles(self) -> None:
        """Say that the worker is not needed right now."""
        self._slots.idles(self)

    def works(self) -> None:
        """Say that it is needed again."""
        self._slots.works(self)

    def stop(self) -> None:
        """Any thread: end the run at once; what its script computes right now is killed."""
        with self._lock:
            self._stopping = True
            # Within the lock the worker is certainly this run's: `leave` takes it too.
            if self._busy and self._pid is not None:
                with suppress(ProcessLookupError):
                    os.kill(self._pid, _KILL)
        self._box.put(Signal.STOP)

    def granted(self) -> None:
        """Any thread: a worker is free."""
        self._box.put(Signal.GRANT)

    def asked_to_park(self) -> None:
        """Any thread: somebody needs the worker."""
        self._box.put(Signal.PARK)
