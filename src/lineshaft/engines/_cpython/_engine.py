"""The engine `cpython`: full Python, in a jail.

Covered: what the jail covers, for everything that a script does, its own threads, processes and
machine code included; runs of one session share a jail, those of two sessions do not. A run ends
with all that came of it: it was killed, and whatever it left is gone. Not covered: scripts of one
session may disturb each other's processes while they run at the same time.
"""

import asyncio
import math
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lineshaft.engines._cpython._run import Run
from lineshaft.engines._cpython._seat import Lost
from lineshaft.engines._cpython._wire import TO_ENGINE, TooLarge, frame
from lineshaft.engines._threaded import settled
from lineshaft.errors import ConfigError
from lineshaft.values import (
    Crashed,
    Dispatch,
    Limits,
    Outcome,
    Output,
    Pauses,
    Program,
    PythonOptions,
    Raised,
    Waiting,
)

if TYPE_CHECKING:
    from lineshaft.engines._cpython._warm import Warm
    from lineshaft.engines._jail import Jail

_MB = 1_000_000
_TRIES = 3
_NO_ROOM_SECONDS = 0.2
_MEMORY_MB = 4_096
_PROCESSES = 64
_AHEAD_SECONDS = 0.05
"""A child for the next script is forked when a run is over, or has gone on for so long: it takes
from a short run's time what it saves the next one."""

_CPU_GRACE = 2
_ENVIRONMENT = {
    "MALLOC_ARENA_MAX": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
}
"""Every thread's memory would count as used; and a fork has only one thread anyway. Sets of texts
have the same order in every process, so that a run can be executed again."""


class CPythonEngine:
    """Executes scripts in full Python; starts nothing before the first run.

    Args:
        options: Which Python, with what.
        jail: The boundary; None: the best that works here.
        workspace: The folder that scripts may import from, where the options say so.
    """

    def __init__(
        self,
        *,
        options: PythonOptions | None = None,
        jail: "Jail | None" = None,
        workspace: Path | None = None,
    ) -> None:
        self._options = options or PythonOptions()
        self._jail = jail
        self._workspace = workspace if self._options.workspace_imports else None
        self._warm: Warm | None = None
        self._starting = threading.Lock()
        self._runs: set[Run] = set()
        self._closed = False

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        return "cpython"

    @property
    def interprets(self) -> bool:
        """It executes the program's text."""
        return True

    @property
    def pauses(self) -> Pauses:
        """How its runs go on after a pause."""
        return "replay"

    async def ready(self) -> None:
        """Have the parent started, in its jail.

        Raises:
            ConfigError: The engine was closed.
            EngineError: Full Python cannot be started here.
        """
        warm = await self._ready()
        if not warm.alive():
            await asyncio.to_thread(warm.close)
            await self._ready()

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
        """Execute a program. There is no state to go on from: a pause is replayed.

        Raises:
            ConfigError: The engine was closed, or there is a state.
            EngineError: Full Python cannot be started here.
        """
        if resume is not None:
            raise ConfigError("the engine cpython has no states to go on from")
        for _ in range(_TRIES):
            warm = await self._ready()
            try:
                seat = await warm.seat()
            except Lost:
                await self._lost(warm)
                continue
            run = Run(
                seat, dispatch, limits=limits, output=output, waiting=waiting, tape=program.tape
            )
            return await self._go(warm, run, program, limits)
        return Crashed(message="there is no room for another process in the jail")

    async def _go(self, warm: "Warm", run: Run, program: Program, limits: Limits) -> Outcome:
        self._runs.add(run)
        ahead = run.loop.call_later(_AHEAD_SECONDS, warm.fork_ahead, limits.memory_mb)
        try:
            order = _order(program, limits, warm.address_space)
            run.begin(order)
            outcome = await run.outcome()
        except _NotSendable as error:
            outcome = error.outcome
        except BaseException as gone:
            left = run.stop()
            run.seat.kill()
            if isinstance(gone, asyncio.CancelledError | Exception):  # else nothing can be awaited
                await self._settled(warm, run, left)
            raise
        finally:
            ahead.cancel()
        await self._settled(warm, run, run.stop())
        warm.fork_ahead(limits.memory_mb)
        return outcome

    async def _settled(self, warm: "Warm", run: Run, left: "list[asyncio.Task[None]]") -> None:
        """Wait until nothing of a run is left; cancellations wait for that too.

        A child that leaves nobody behind is not waited for: it is killed, and does nothing more.
        """
        run.seat.kill()
        if run.seat.is_alone():
            run.seat.ended = True
            warm.leave(run.seat)
            self._runs.discard(run)
            await settled(left)
            return
        ending = asyncio.create_task(self._end(warm, run))
        await settled([ending, *left])
        ending.result()

    async def _end(self, warm: "Warm", run: Run) -> None:
        try:
            await warm.end(run.seat)
        finally:
            warm.leave(run.seat)
            self._runs.discard(run)

    async def _ready(self) -> "Warm":
        warm = self._warm
        if warm is None or warm.closed:
            warm = await asyncio.to_thread(self._start)
        return warm

    async def _lost(self, warm: "Warm") -> None:
        """Give a jail that is full a moment; replace one whose parent is gone."""
        await asyncio.sleep(_NO_ROOM_SECONDS)

        def replace() -> None:
            if not warm.alive():
                warm.close()

        await asyncio.to_thread(replace)

    def _start(self) -> "Warm":
        # What a host without full Python never needs is not imported with the room.
        from lineshaft.engines._bundle import resolve  # noqa: PLC0415  as said above
        from lineshaft.engines._cpython._warm import start  # noqa: PLC0415  as said above
        from lineshaft.engines._jail import Walls, best_jail  # noqa: PLC0415  as said above

        with self._starting:
            if self._closed:
                raise ConfigError("the engine cpython is closed", hint="make a new one")
            if self._warm is not None and not self._warm.closed:
                return self._warm
            python = resolve(self._options)
            extra = [p for p in (python.packages, self._workspace) if p is not None]
            walls = Walls(
                readable=tuple(dict.fromkeys((*python.readable, *extra))),
                memory_mb=_MEMORY_MB,
                processes=_PROCESSES,
                env=_ENVIRONMENT,
            )
            self._warm = start(
                self._jail or best_jail(self._options.boundary),
                [str(python.executable)],
                walls=walls,
                path=[str(folder) for folder in extra],
                preload=self._options.preload,
            )
            return self._warm

    async def aclose(self) -> None:
        """End all runs and processes of this engine."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._starting:
            self._closed = True
            warm, self._warm = self._warm, None
        over = Crashed(message="the engine was closed while the script ran")
        for run in list(self._runs):
            with suppress(RuntimeError):  # its loop is closed: nobody waits for it
                run.loop.call_soon_threadsafe(run.end, over)
        if warm is not None:
            warm.close()


class _NotSendable(Exception):
    def __init__(self, outcome: Outcome) -> None:
        super().__init__()
        self.outcome = outcome


def _order(program: Program, limits: Limits, address_space: int) -> bytes:
    tape = program.tape
    message: dict[str, object] = {
        "type": "execute",
        "source": program.source,
        "name": program.name,
        "inputs": dict(program.inputs),
        "tools": sorted(program.tools),
        "namespaces": {name: sorted(of) for name, of in program.namespaces.items()},
        "memory_mb": limits.memory_mb,
        "memory_bytes": address_space + limits.memory_mb * _MB,
        "cpu_seconds": math.ceil(limits.seconds) + _CPU_GRACE,
        "recursion": limits.recursion,
        "tape": tape and {"seed": tape.seed, "clock": tape.clock},
    }
    try:
        program.source.encode()
    except UnicodeEncodeError as error:
        raise _NotSendable(Raised(kind="SyntaxError", message=str(error))) from None
    try:
        return frame(message, TO_ENGINE)
    except (TypeError, ValueError, RecursionError, TooLarge) as error:
        raised = Raised(kind="TypeError", message=f"the inputs cannot be sent: {error}")
        raise _NotSendable(raised) from None
