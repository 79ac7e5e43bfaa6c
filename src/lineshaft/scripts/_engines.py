"""Which engine executes a script, and why."""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import anyio.to_thread

from lineshaft.engines import MontyChecker, MontyEngine, make_cpython, make_micropython
from lineshaft.errors import ConfigError, EngineError
from lineshaft.scripts._choice import FITS, needs
from lineshaft.scripts._choice_hints import rewrite
from lineshaft.scripts._choice_micropython import lack
from lineshaft.scripts._choice_needs import Need
from lineshaft.scripts._prepare import Prepared
from lineshaft.values import Checker, Engine, PythonOptions, RunError

ENGINES = ("auto", "monty", "cpython", "micropython")
"""The names a session takes."""

Make = Callable[[], Engine]
"""Makes an engine; raises `EngineError` where this machine cannot have it."""

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """An engine and the reason for it."""

    engine: Engine | None = None
    """None: there is none for this script."""

    reason: str = ""
    restarts: bool = False
    """Where the engine turns out to lack something, full Python may begin again."""

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
        python: Which full Python, with what.
        workspace: The folder on this machine that scripts of full Python may import from.
        makers: Makes engines by name, instead of the ones that come with Lineshaft.
    """

    def __init__(
        self,
        wanted: str | Engine,
        *,
        python: PythonOptions | None = None,
        workspace: Path | None = None,
        makers: Mapping[str, Make] | None = None,
    ) -> None:
        if isinstance(wanted, str) and wanted not in ENGINES:
            names = ", ".join(ENGINES)
            raise ConfigError(f"there is no engine {wanted!r}; this version has: {names}")
        self._wanted = wanted
        options = python or PythonOptions()
        self._makers: dict[str, Make] = {
            "monty": MontyEngine,
            "cpython": lambda: make_cpython(options, workspace),
            "micropython": make_micropython,
            **(makers or {}),
        }
        self._made: dict[str, Engine | EngineError] = {}
        self._making = threading.Lock()
        self.checker: Checker = MontyChecker()

    @property
    def wanted(self) -> str:
        """The name that the session was given: `auto`, or an engine's."""
        return self._wanted if isinstance(self._wanted, str) else self._wanted.name

    @property
    def reads_scripts(self) -> bool:
        """Whether scripts are read at all, or the engine plays a fixed part."""
        return isinstance(self._wanted, str) or self._wanted.interprets

    @property
    def promises_full_python(self) -> bool:
        """Whether scripts may use all of Python here; the first answer may take a moment."""
        if not isinstance(self._wanted, str):
            return self._wanted.name == "cpython"
        can = self._wanted in ("auto", "cpython")
        return can and not isinstance(self._make("cpython"), EngineError)

    async def choose(self, prepared: Prepared, inputs: Iterable[str] = ()) -> Choice:
        """Return the engine for a script, before anything of it has run.

        Args:
            prepared: The script, read.
            inputs: Names of the values that it is given.
        """
        if not isinstance(self._wanted, str):
            return Choice(engine=self._wanted, reason="the session was given this engine")
        if self._wanted != "auto":
            return await self._asked_for(self._wanted, prepared, inputs)
        found = await _needs(prepared)
        if not found:
            return await self._small(FITS)
        full = await self.get("cpython")
        if not isinstance(full, EngineError):
            return Choice(engine=full, reason=found[0].reason)
        if found[0].kind == "doubt":
            return await self._small(f"{found[0].reason}; there is no full Python here")
        return Choice(reason=found[0].reason, problem=_unsupported(found[0], full, prepared))

    async def get(self, name: str) -> Engine | EngineError:
        """Return an engine by name, or why this machine cannot have it."""
        if name in self._made or name == "monty":
            return self._make(name)
        return await anyio.to_thread.run_sync(self._make, name)

    async def named(self, name: str) -> Engine | EngineError:
        """Return the engine that an earlier part of a run was executed by.

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
            made = [engine for engine in self._made.values() if not isinstance(engine, EngineError)]
            await _close_all(made)

    async def _asked_for(self, name: str, prepared: Prepared, inputs: Iterable[str]) -> Choice:
        reason = "the session asks for it"
        engine = await self.get(name)
        if isinstance(engine, EngineError):
            error = RunError(code=engine.code, message=engine.message, hint=engine.hint)
            return Choice(reason=reason, problem=error)
        if name == "micropython":
            problem = await _beside(prepared, lambda: lack(prepared, inputs))
            if problem is not None:
                return Choice(reason=reason, problem=problem)
        return Choice(engine=engine, reason=reason)

    async def _small(self, reason: str) -> Choice:
        engine = await self.get("monty")
        assert not isinstance(engine, EngineError)  # noqa: S101  it is made without a machine
        return Choice(engine=engine, reason=reason, restarts=True)

    def _make(self, name: str) -> Engine | EngineError:
        with self._making:
            if name not in self._made:
                try:
                    self._made[name] = self._makers[name]()
                except EngineError as error:
                    self._made[name] = error
            return self._made[name]


async def _needs(prepared: Prepared) -> tuple[Need, ...]:
    resolver, found = prepared.resolver, prepared.found
    if resolver is None:
        return ()
    if found.needs is None:
        found.needs = await _beside(prepared, lambda: needs(resolver))
    return found.needs


_LONG_SCRIPT = 20_000
"""Characters; longer ones are read beside the loop."""


async def _beside(prepared: Prepared, read: Callable[[], Found]) -> Found:
    """Read a script, beside the event loop if it is long."""
    if len(prepared.read_text) > _LONG_SCRIPT:
        return await anyio.to_thread.run_sync(read)
    return read()


async def _close_all(engines: list[Engine]) -> None:
    """Close engines; a failure of one does not keep another open."""
    if engines:
        try:
            await engines[0].aclose()
        finally:
            await _close_all(engines[1:])


def _unsupported(need: Need, why: EngineError, prepared: Prepared) -> RunError:
    lines = prepared.read_text.split("\n")
    line = lines[need.line - 1].strip() if need.line <= len(lines) else ""
    return RunError(
        code="E_UNSUPPORTED",
        message=f"{need.what}: the small engine does not do this, and {why.message}",
        line=need.line,
        hint=rewrite(need, line),
    )
