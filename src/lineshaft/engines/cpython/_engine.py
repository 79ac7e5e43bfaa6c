"""Engine `cpython`: full Python, in a jail.

Runs of one session share a jail, those of two sessions do not. Each run is a process with a wall of
its own inside the jail, which keeps it from other runs and from the parent that they come from; it
can start no process, so a run ends with its one process. Not covered: conclusions that runs draw
from the machine's speed.
"""

import asyncio
import threading
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from lineshaft.engines.cpython._run import CPythonRun
from lineshaft.engines.cpython._worker import Lost, Unwell
from lineshaft.engines.host.protocol import RunEnded, order_text
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
    PythonTarget,
    Waiting,
    minor_version,
)

if TYPE_CHECKING:
    from lineshaft.engines.cpython._fork_server import ForkServer
    from lineshaft.sandbox.bundle import Interpreter
    from lineshaft.sandbox.jail import Jail

_TRIES = 3
_NO_ROOM_SECONDS = 0.2
_NEWS_SECONDS = 0.1
"""A jail ends its processes in any order."""

_MEMORY_MB = 4_096
_PROCESSES = 512
_AHEAD_SECONDS = 0.05
"""A process for the next script is forked when a run is over or has lasted so many seconds: during
a short run the fork would cost as much as it saves."""

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
        options: The Python and its packages.
        jail: The boundary; None: the best that works here.
    """

    def __init__(
        self,
        *,
        options: PythonOptions | None = None,
        jail: "Jail | None" = None,
    ) -> None:
        self._options = options or PythonOptions()
        self._jail = jail
        self._python: Interpreter | None = None
        self._forks: ForkServer | None = None
        self._starting = threading.Lock()
        self._finding = threading.Lock()
        self._runs: set[CPythonRun] = set()
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

    @property
    def identity(self) -> Mapping[str, str]:
        """The versions that an execution over a record depends on; at first as slow as `ready`.

        Raises:
            PythonNotFound: There is no Python for scripts.
        """
        python = self._interpreter()
        packages = "" if python.packages is None else python.packages.name
        return {"image": python.digest, "python": python.version, "packages": packages}

    @property
    def target(self) -> PythonTarget:
        """The Python that was found; the first time it takes as long as `identity`.

        Raises:
            PythonNotFound: There is no Python for scripts.
        """
        python = self._interpreter()
        packages = () if python.packages is None else (str(python.packages),)
        return PythonTarget(version=minor_version(python.version), packages=packages)

    async def lacks(self, module: str) -> str:
        """Return an empty reason: a module that this engine cannot import, no engine can."""
        del module
        return ""

    async def ready(self) -> None:
        """Start the parent process, in its jail.

        Raises:
            ConfigError: The engine was closed.
            EngineError: Full Python cannot be started here.
        """
        forks = await self._ready()
        if not forks.alive():
            await asyncio.to_thread(forks.close)
            await self._ready()

    async def run(
        self,
        program: Program,
        dispatch: Dispatch,
        *,
        limits: Limits,
        output: Output,
        waiting: Waiting,
    ) -> Outcome:
        """Execute a program; over its record, where it has one.

        Raises:
            ConfigError: The engine was closed.
            EngineError: Full Python cannot be started here.
        """
        try:
            order = order_text(program, limits, packages=True)
        except RunEnded as ended:
            return ended.outcome
        outcome: Outcome = Crashed(message="no process for the script could be started in the jail")
        for _ in range(_TRIES):
            forks = await self._ready()
            try:
                worker = await forks.worker()
            except Lost as lost:
                if str(lost):
                    outcome = Crashed(message=f"no process for the script could be started: {lost}")
                await self._lost(forks, unwell=isinstance(lost, Unwell))
                continue
            run = CPythonRun(
                worker, program, dispatch, limits=limits, output=output, waiting=waiting
            )
            outcome = await self._go(forks, run, order)
            if not run.was_killed or run.touched or self._closed:
                break
            await asyncio.sleep(_NEWS_SECONDS)
            if forks.alive():  # then the script was meant
                break
            await self._lost(forks, unwell=True)
        return outcome

    async def _go(self, forks: "ForkServer", run: CPythonRun, order: str) -> Outcome:
        self._runs.add(run)
        ahead = run.loop.call_later(_AHEAD_SECONDS, forks.fork_ahead)
        try:
            run.begin(order, forks.address_space)
            outcome = await run.outcome()
        except GeneratorExit:  # the event loop is gone
            run.stop()
            forks.leave(run.worker)
            self._runs.discard(run)
            raise
        except BaseException:
            await self._settle(forks, run)
            raise
        finally:
            ahead.cancel()
        await self._settle(forks, run)
        forks.fork_ahead()
        return outcome

    async def _settle(self, forks: "ForkServer", run: CPythonRun) -> None:
        """Return when the run has ended, its calls included.

        A killed process runs no more code and has no children: it is not awaited.
        """
        run.stop()
        forks.leave(run.worker)
        self._runs.discard(run)
        await run.aclose()

    async def _ready(self) -> "ForkServer":
        forks = self._forks
        if forks is None or forks.retired:
            forks = await asyncio.to_thread(self._start)
        return forks

    async def _lost(self, forks: "ForkServer", *, unwell: bool) -> None:
        """Give a full jail a moment; replace one whose parent is gone or does not react."""
        if not unwell:
            await asyncio.sleep(_NO_ROOM_SECONDS)

        def replace() -> None:
            if not forks.alive():
                forks.close()
            elif unwell:
                forks.retire()

        await asyncio.to_thread(replace)

    def _interpreter(self) -> "Interpreter":
        # Modules that only full Python needs are not imported with the room.
        from lineshaft.sandbox.bundle import resolve  # noqa: PLC0415  as said above

        with self._finding:
            if self._python is None:
                self._python = resolve(self._options)
            return self._python

    def _start(self) -> "ForkServer":
        from lineshaft.engines.cpython._fork_server import (  # noqa: PLC0415  as in `_interpreter`
            ForkServerSettings,
            start,
        )
        from lineshaft.sandbox.jail import SandboxSpec, best_jail  # noqa: PLC0415  as in `_interpreter`

        with self._starting:
            if self._closed:
                raise ConfigError("the engine cpython is closed", hint="make a new one")
            if self._forks is not None and not self._forks.retired:
                return self._forks
            python = self._interpreter()
            spec = SandboxSpec(
                readable=python.readable,
                memory_mb=_MEMORY_MB,
                processes=_PROCESSES,
                env={**_ENVIRONMENT, "LD_LIBRARY_PATH": str(python.root / "lib")},
                proc=False,
                fixed_addresses=True,
            )
            settings = ForkServerSettings(
                path=[] if python.packages is None else [str(python.packages)],
                preload=self._options.preload,
                readable=[str(path) for path in python.readable],
                threads=python.packages is not None,
            )
            self._forks = start(
                self._jail or best_jail(self._options.boundary),
                [str(python.executable)],
                spec=spec,
                settings=settings,
            )
            return self._forks

    async def aclose(self) -> None:
        """End all runs and processes of this engine."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._starting:
            self._closed = True
            forks, self._forks = self._forks, None
        over = Crashed(message="the engine was closed while the script ran")
        for run in list(self._runs):
            with suppress(RuntimeError):  # its loop is closed: no task waits for it
                run.loop.call_soon_threadsafe(run.end, over)
        if forks is not None:
            forks.close()
