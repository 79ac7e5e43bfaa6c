"""Which engine executes a script, and why."""

from dataclasses import dataclass

from lineshaft.engines import MontyChecker, MontyEngine
from lineshaft.errors import ConfigError
from lineshaft.values import Checker, Engine

ENGINES = ("auto", "monty")
"""The names a session takes."""


@dataclass(frozen=True, slots=True)
class Choice:
    """An engine and the reason for it."""

    engine: Engine
    reason: str


class Engines:
    """The engines of one session, started when first needed.

    Args:
        wanted: A name out of `ENGINES`, or an engine to use for everything.
    """

    def __init__(self, wanted: str | Engine) -> None:
        if isinstance(wanted, str) and wanted not in ENGINES:
            names = ", ".join(ENGINES)
            raise ConfigError(f"there is no engine {wanted!r}; this version has: {names}")
        self._wanted = wanted
        self._monty = MontyEngine() if isinstance(wanted, str) else None
        self.checker: Checker = MontyChecker()

    @property
    def reads_scripts(self) -> bool:
        """Whether scripts are read at all, or the engine plays a fixed part."""
        return isinstance(self._wanted, str) or self._wanted.interprets

    def choose(self) -> Choice:
        """Return the engine for a script."""
        if self._monty is None:
            assert not isinstance(self._wanted, str)  # noqa: S101  for the type checker
            return Choice(self._wanted, "the session was given this engine")
        if self._wanted == "monty":
            return Choice(self._monty, "the session asks for it")
        return Choice(self._monty, "it is the only engine of this version")

    async def aclose(self) -> None:
        """End the processes of all engines and of the checker."""
        try:
            await self.checker.aclose()
        finally:
            if self._monty is not None:
                await self._monty.aclose()
