"""The engine `monty`: a Python subset in worker processes of its own.

Covered: the script has no system calls, files, network or environment; it outlives neither its
limits nor its run. Not covered: a fault in the interpreter itself, whose worker runs as the
same user as the host and is not jailed.
"""

import asyncio
import threading
from typing import TYPE_CHECKING

from lineshaft.engines._desk import Desk, Job, Postbox
from lineshaft.engines._threaded import see_through
from lineshaft.errors import ConfigError, EngineCrashed
from lineshaft.values import Crashed, Dispatch, Limits, Outcome, Output, Pauses, Program, Waiting

if TYPE_CHECKING:
    from lineshaft.engines._monty_pool import Workers

_WORKERS = 64


class MontyEngine:
    """Executes scripts in pydantic-monty; starts nothing before the first run.

    Args:
        max_workers: Processes at most. Any number of runs may be under way: one that waits for
            its calls lends its worker to one that computes.
    """

    def __init__(self, *, max_workers: int = _WORKERS) -> None:
        if max_workers < 1:
            raise ConfigError(f"max_workers must be at least 1, not {max_workers!r}")
        self._max_workers = max_workers
        self._workers: Workers | None = None
        self._starting = threading.Lock()
        self._closed = False

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "monty"

    @property
    def interprets(self) -> bool:
        """It executes the program's text."""
        return True

    @property
    def pauses(self) -> Pauses:
        """How its runs go on after a pause."""
        return "snapshot"

    async def ready(self) -> None:
        """Have the library loaded, and a place for its workers.

        Raises:
            ConfigError: The engine was closed.
            EngineCrashed: It cannot start.
        """
        if self._workers is None:
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
        """Execute a program, or go on from a suspended state.

        Raises:
            ConfigError: The engine was closed.
        """
        try:
            workers = self._workers or await asyncio.to_thread(self._start)
        except EngineCrashed as error:
            return Crashed(message=error.message)
        box = Postbox()
        desk = Desk(box, dispatch, limits=limits, output=output, waiting=waiting)
        return await see_through(Job(program, desk, box, limits, resume), workers.start)

    async def aclose(self) -> None:
        """End all runs, processes and threads of this engine."""
        self._closed = True
        await asyncio.to_thread(self._end)

    def _start(self) -> "Workers":
        with self._starting:
            if self._closed:
                raise ConfigError("the engine monty is closed", hint="make a new one")
            if self._workers is None:
                self._workers = _workers(self._max_workers)
            return self._workers

    def _end(self) -> None:
        with self._starting:
            workers, self._workers = self._workers, None
        if workers is not None:
            workers.close()


def _workers(count: int) -> "Workers":
    try:
        from lineshaft.engines._monty_pool import (  # noqa: PLC0415  costs 150 ms: at first use
            Workers,
        )

        return Workers(count)
    except Exception as error:  # a foreign library and its binary: whatever they raise
        raise EngineCrashed(f"the engine monty cannot start: {error}") from error
