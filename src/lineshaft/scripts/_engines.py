"""Engines of one session, and the choice of one for a script."""

import threading
from collections.abc import Callable, Mapping

import anyio.to_thread

from lineshaft.checker import TyChecker
from lineshaft.engines import make_cpython, make_wasm
from lineshaft.errors import ConfigError, EngineError
from lineshaft.sandbox.webassembly import Asker
from lineshaft.scripts.reading import Prepared, through
from lineshaft.values import (
    ENGINES,
    Checker,
    Engine,
    PythonOptions,
    RunError,
    Struct,
    engine_problem,
)

_READING_SECONDS = 15.0
"""The longest reading of one script."""

Make = Callable[[], Engine]
"""Makes an engine; raises `EngineError` where this machine cannot have it."""


class Choice(Struct, frozen=True, kw_only=True):
    """An engine and the reason for it."""

    engine: Engine | None = None
    """None: there is none for this script."""

    reason: str = ""
    problem: RunError | None = None
    """Why there is none."""

    @property
    def name(self) -> str:
        """Name of the engine."""
        return self.engine.name if self.engine is not None else ""


class Engines:
    """The engines of one session, started when first needed.

    Args:
        wanted: A name out of `ENGINES`, or an engine to use for everything.
        python: Which full Python, with which packages.
        makers: Makes engines by name, instead of the ones that come with Lineshaft.
    """

    def __init__(
        self,
        wanted: str | Engine,
        *,
        python: PythonOptions | None = None,
        makers: Mapping[str, Make] | None = None,
    ) -> None:
        if isinstance(wanted, str):
            must_be_engine(wanted)
        self._wanted = wanted
        options = python or PythonOptions()
        self._makers: dict[str, Make] = {
            "wasm": lambda: make_wasm(options),
            "cpython": lambda: make_cpython(options),
            **(makers or {}),
        }
        self._made: dict[str, Engine | EngineError] = {}
        self._making = threading.Lock()
        self.checker: Checker = TyChecker()
        self._asker = Asker(seconds=_READING_SECONDS)
        self.ask = through(self._asker)
        """Asks the guest's reader, an instance that never runs a script."""

    @property
    def wanted(self) -> str:
        """The name that the session was given: `auto`, or an engine's."""
        return self._wanted if isinstance(self._wanted, str) else self._wanted.name

    @property
    def reads_scripts(self) -> bool:
        """Whether scripts are read at all, or the engine plays a fixed part."""
        return isinstance(self._wanted, str) or self._wanted.interprets

    async def choose(self, prepared: Prepared) -> Choice:
        """Return the engine for a script, before anything of it has run.

        Args:
            prepared: The script, read.
        """
        if not isinstance(self._wanted, str):
            return Choice(engine=self._wanted, reason="the session was given this engine")
        if self._wanted != "auto":
            return _made(await self.get(self._wanted), "the session asks for it")
        wasm = await self.get("wasm")
        if isinstance(wasm, EngineError):
            return _made(wasm, "every script")
        for each in prepared.imports:
            lack = "" if each.optional else await wasm.lacks(each.module)
            if lack:
                reason = f"line {each.line}: {lack}"
                return _made(await self.get("cpython"), reason, line=each.line, needs=lack)
        return Choice(engine=wasm, reason="Python in WebAssembly runs every script like this one")

    async def get(self, name: str) -> Engine | EngineError:
        """Return an engine by name, or why this machine cannot have it."""
        if name in self._made:
            return self._made[name]
        return await anyio.to_thread.run_sync(self._make, name)

    async def named(self, name: str) -> Engine | EngineError:
        """Return the engine that an earlier segment of a run was executed by.

        Args:
            name: As its result said.
        """
        if not isinstance(self._wanted, str) and self._wanted.name == name:
            return self._wanted
        if name not in ENGINES:
            return EngineError(f"this session has no engine {name!r}")
        return await self.get(name)

    async def aclose(self) -> None:
        """End the processes of all engines and of the checker."""
        try:
            await self.checker.aclose()
        finally:
            await anyio.to_thread.run_sync(self._asker.close)
            made = [engine for engine in self._made.values() if not isinstance(engine, EngineError)]
            await _close_all(made)

    def _make(self, name: str) -> Engine | EngineError:
        with self._making:
            if name not in self._made:
                try:
                    self._made[name] = self._makers[name]()
                except EngineError as error:
                    self._made[name] = error
            return self._made[name]


def must_be_engine(name: str) -> None:
    """Refuse a name that no engine has.

    Raises:
        ConfigError: It names the engines there are.
    """
    if problem := engine_problem(name):
        raise ConfigError(problem, hint="name 'wasm', or leave the setting out")


def _made(
    engine: Engine | EngineError, reason: str, *, line: int | None = None, needs: str = ""
) -> Choice:
    if not isinstance(engine, EngineError):
        return Choice(engine=engine, reason=reason)
    message = f"{needs}, and {engine.message}" if needs else engine.message
    problem = RunError(code=engine.code, message=message, line=line, hint=engine.hint)
    return Choice(reason=reason, problem=problem)


async def _close_all(engines: list[Engine]) -> None:
    """Close engines; a failure of one does not keep another open."""
    if engines:
        try:
            await engines[0].aclose()
        finally:
            await _close_all(engines[1:])
