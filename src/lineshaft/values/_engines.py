"""What crosses the seam between a run and the engine that executes its script."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lineshaft.values._calls import Dispatch
from lineshaft.values._limits import Limits
from lineshaft.values._workspace import Stream

Output = Callable[[Stream, str], None]
"""Take printed text. Called in the host's event loop, in order."""

Waiting = Callable[[Collection[str]], Literal["wait", "suspend"]]
"""Told the ids of the unfinished calls whenever nothing in the script can go on."""


Pauses = Literal["snapshot", "replay", "never"]
"""How a run of an engine goes on after a pause: from a state, from its record, or not at all."""


@dataclass(slots=True, kw_only=True)
class Tape:
    """What a script takes from the world beside its calls, so that it can be executed again.

    An engine takes what is there in order, and records what it takes beyond it.
    """

    seed: str
    """Of random numbers, uuids and secrets; text of 64 hexadecimal digits."""

    clock: list[float] = field(default_factory=list[float])
    """Readings of clocks, in order."""

    torn: bool = False
    """More was taken than is kept: the run cannot be executed again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A script, ready for any engine."""

    source: str
    """Python text, forgotten `await`s repaired; lines as the author wrote them."""

    name: str = "script.py"
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    """JSON-like values, bound as globals."""

    tools: frozenset[str] = frozenset()
    """Script names of tools without a namespace: bound by name and in the module `tools`."""

    namespaces: Mapping[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """Script names of the tools of each namespace; each namespace is a module."""

    tape: Tape | None = None
    """None: nobody will execute it again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """The script came to its end."""

    value: object
    """JSON-like."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """The script raised an exception that it did not catch, or is not Python."""

    kind: str
    """Name of the exception's class, `ToolError` for ours; `SyntaxError`; `Unsupported`."""

    message: str
    line: int | None = None
    """In the script as written."""

    traceback: str = ""
    """With the script's own name and lines only."""

    code: str | None = None
    """Of the `ToolError`."""

    tool: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Exceeded:
    """The engine ended the script for what it used."""

    limit: Literal["seconds", "memory_mb", "recursion", "stdout_bytes", "stderr_bytes", "calls"]
    message: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Crashed:
    """The engine's process died."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Suspended:
    """`waiting` said so."""

    state: bytes | None
    """Enough to go on elsewhere; None: the run must be replayed."""


Outcome = Returned | Raised | Exceeded | Crashed | Suspended


class Engine(Protocol):
    """Executes scripts; its one way out is the `Dispatch` it is handed.

    `dispatch` is called in the event loop that called `run`. Control comes as cancellation
    of the task that awaits `run`: nothing of the script runs afterwards, no further call is
    dispatched, and `run` returns only when that is certain. Calls under way are cancelled.
    """

    @property
    def name(self) -> str:
        """Name in configuration and results."""
        ...

    @property
    def interprets(self) -> bool:
        """Whether it executes the program's text; False: it plays a fixed part, for tests."""
        ...

    @property
    def pauses(self) -> Pauses:
        """How its runs go on after a pause; where never, `waiting` is not to say "suspend"."""
        ...

    async def ready(self) -> None:
        """Have what all runs share started, which takes no time of a run; `run` would start it too.

        Raises:
            EngineError: It cannot be started here.
        """
        ...

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
        """Execute a program, or go on from a suspended state."""
        ...

    async def aclose(self) -> None:
        """End all processes of this engine."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Stubs:
    """What a type checker is told of the tools: texts of `.pyi` files."""

    main: str
    """The tools without a namespace."""

    modules: Mapping[str, str] = field(default_factory=dict[str, str])
    """By module name: one for each namespace, and `tools`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """What a type checker says, in its own words."""

    code: str
    message: str
    line: int
    """1-based, in the checked source."""

    column: int
    """1-based, in characters."""

    end_line: int = 0
    end_column: int = 0


class Checker(Protocol):
    """Checks types of scripts without running them."""

    async def check(
        self, source: str, *, stubs: Stubs, inputs: Mapping[str, str]
    ) -> tuple[Diagnostic, ...]:
        """Return all that is wrong.

        Args:
            source: The script, as it would be run.
            stubs: The tools it may call.
            inputs: Type of each input, by name, as Python annotations.
        """
        ...

    async def aclose(self) -> None:
        """End the checker's processes."""
        ...
