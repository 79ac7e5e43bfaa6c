"""One session of the type checker inside pydantic-monty, with its process."""

import json
import os
import signal
import threading
from collections.abc import Mapping
from typing import TypedDict

from pydantic_monty import (
    ExternalModule,
    FunctionSnapshot,
    Monty,
    MontyCrashedError,
    MontyError,
    MontySession,
    MontyTypingError,
    ResourceLimits,
)

from lineshaft.engines._checker_source import Wrapped
from lineshaft.engines._signals import unsignalled
from lineshaft.values import Diagnostic, Stubs

_LIMITS: ResourceLimits = {
    "max_feed_duration_secs": 5.0,
    "max_memory": 100_000_000,
    "max_suspensions": 2**31 - 1,
}
"""Of what a session executes, which is imports and one `raise`."""

_KILL = getattr(signal, "SIGKILL", signal.SIGTERM)


class CheckerEnded(Exception):
    """The worker died, or was killed for the time it took."""

    def __init__(self, *, timed_out: bool) -> None:
        super().__init__("the worker of the type checker ended")
        self.timed_out = timed_out


class _Place(TypedDict):
    row: int
    column: int


class _Said(TypedDict):
    code: str | None
    message: str
    location: _Place
    end_location: _Place


class CheckerSession:
    """Checks one script after the other against one set of stubs; for one thread but `kill`.

    Args:
        stubs: The tools that the scripts may call.
        seconds: The longest that one check may take.
    """

    def __init__(self, stubs: Stubs, seconds: float) -> None:
        self._stubs = stubs
        self._lock = threading.Lock()
        self._pid: int | None = None
        self._killed = False
        self._pool = Monty(max_processes=1, request_timeout=seconds)
        with unsignalled():
            self._pool.__enter__()
        self._session: MontySession | None = None

    def check(self, wrapped: Wrapped) -> tuple[Diagnostic, ...]:
        """Return what is wrong with a script.

        Raises:
            CheckerEnded: The worker died over it; the next check has a new one.
        """
        try:
            session = self._session or self._enter()
            _feed(session, wrapped.text)
        except MontyTypingError as error:
            return _diagnostics(error.display(), wrapped)
        except MontyCrashedError as error:
            self._leave()
            raise CheckerEnded(timed_out=error.timed_out) from None
        except MontyError:  # it passed, and the `raise` at its end was executed
            return ()
        return ()

    def kill(self) -> None:
        """End the worker now, from any thread; there will be no other one."""
        with self._lock:
            self._killed = True
            if self._pid is not None:
                os.kill(self._pid, _KILL)

    def close(self) -> None:
        """End the session and its process."""
        self._leave()
        self._pool.__exit__(None, None, None)

    def _enter(self) -> MontySession:
        if self._killed:
            raise CheckerEnded(timed_out=False)
        session = self._pool.checkout(
            limits=_LIMITS,
            type_check=True,
            type_check_stubs=self._stubs.main,
            type_check_format="json",
            external_modules=_modules(self._stubs.modules),
        )
        with unsignalled():
            session.__enter__()
        self._session = session
        with self._lock:
            self._pid = None if self._killed else session.worker_pid
        try:
            _feed(session, "".join(f"import {name}\n" for name in self._stubs.modules))
        except MontyCrashedError:
            raise
        except MontyError as error:
            self._leave()
            raise ValueError(f"it does not take the stubs: {error}") from None
        return session

    def _leave(self) -> None:
        with self._lock:
            self._pid = None
        session, self._session = self._session, None
        if session:
            session.__exit__(None, None, None)


def _feed(session: MontySession, text: str) -> None:
    """Have a text checked; it asks for the stubs of modules, which are there already."""
    snapshot = session.feed_start(text)
    while isinstance(snapshot, FunctionSnapshot) and snapshot.is_os_function:
        snapshot = snapshot.resume_auto()


def _modules(stubs: Mapping[str, str]) -> dict[str, ExternalModule]:
    """Return the modules of the tools, those of dotted namespaces inside of each other."""
    return {name: _module(name, stubs) for name in {s.partition(".")[0] for s in stubs}}


def _module(name: str, stubs: Mapping[str, str]) -> ExternalModule:
    start = f"{name}."
    inner = {s[len(start) :].partition(".")[0] for s in stubs if s.startswith(start)}
    parts = {part: _module(start + part, stubs) for part in inner}
    return ExternalModule(parts, stubs=stubs.get(name, ""))


def _diagnostics(text: str, wrapped: Wrapped) -> tuple[Diagnostic, ...]:
    said: list[_Said] = json.loads(text)
    found = (_diagnostic(one, wrapped) for one in said)
    return tuple(one for one in found if 1 <= one.line <= wrapped.lines)


def _diagnostic(said: _Said, wrapped: Wrapped) -> Diagnostic:
    line, column = wrapped.place(said["location"]["row"], said["location"]["column"])
    end = said["end_location"]
    end_line, end_column = wrapped.place(end["row"], end["column"])
    return Diagnostic(
        code=said["code"] or "unknown",
        message=said["message"],
        line=line,
        column=column,
        end_line=end_line,
        end_column=end_column,
    )
