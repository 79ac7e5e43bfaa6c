"""The seam between a run and the engine that executes its script."""

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Literal, Protocol

import msgspec

from lineshaft.values._calls import Dispatch
from lineshaft.values._limits import Limits
from lineshaft.values._struct import Struct
from lineshaft.values._workspace import Stream

ENGINES = ("auto", "wasm", "cpython")
"""Names of engines that a person can ask for; `auto` chooses."""

REMOVED_ENGINES = ("monty", "micropython")
"""Names of engines of earlier versions."""

Output = Callable[[Stream, str], None]
"""Take printed text. Called in the host's event loop, in order."""

Waiting = Callable[[Collection[str]], Awaitable[Literal["wait", "suspend"]]]
"""Awaited with the ids of the unfinished calls whenever the script only waits.

The engine gives it up (cancels it) when a completion comes first. An answer "suspend" ends the run
as `Suspended`; after "wait" the engine asks again only once something has changed.
"""

ModuleText = tuple[str, bytes]
"""A module of the workspace: its canonical path, and its text."""

ModuleSource = Callable[[str], Awaitable[ModuleText | None]]
"""Return a module of the workspace by its dotted name, judged as a read of its path; None: there is
none. A package is its `__init__.py`. Raises `ToolError` where policy refuses the read."""


Pauses = Literal["replay", "never"]
"""How a run of an engine goes on after a pause: by execution over its record, or not at all."""


def engine_problem(name: object) -> str:
    """Return why an engine cannot be chosen; empty where it can."""
    if name in ENGINES:
        return ""
    if name in REMOVED_ENGINES:
        return f"the engine {name!r} is gone: scripts run on 'wasm', which has all of Python"
    return f"there is no engine {name!r}; this version has: {', '.join(ENGINES)}"


class ReplayInputs(Struct, kw_only=True):
    """The inputs of a script beside the results of its calls: clock and random numbers.

    With them and the results a script can be executed again. An engine plays back the recorded
    inputs in order, and records those that the script takes beyond them.
    """

    __unshown__ = frozenset({"passed"})

    seed: str
    """Of random numbers, uuids and secrets; text of 64 hexadecimal digits."""

    readings: bytes = b""
    """Readings of clocks, in order, compact; how they are written is the engine's own."""

    turns: list[int] = msgspec.field(default_factory=list[int])
    """The end of each turn of the script's event loop, in order: the number of the call whose
    completion was given, or 0 where time passed or no completion was there."""

    torn: bool = False
    """More was taken than is kept: the run cannot be executed again."""

    passed: Callable[[Sequence[int], bytes], None] | None = None
    """Called in the event loop at the start of a turn that makes calls, before they are dispatched,
    with the ends of the turns since the last time and the readings until this turn began."""


class Program(Struct, frozen=True, kw_only=True):
    """A script, ready for any engine."""

    source: str
    """Python text, forgotten `await`s repaired; lines as the author wrote them."""

    name: str = "script.py"
    inputs: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    """JSON-like values, bound as globals."""

    tools: frozenset[str] = frozenset()
    """Script names of tools without a namespace: bound by name and in the module `tools`."""

    namespaces: Mapping[str, frozenset[str]] = msgspec.field(
        default_factory=dict[str, frozenset[str]]
    )
    """Script names of the tools of each namespace; each namespace is a module."""

    signatures: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Parameters of tools by script name, as they stand between the brackets of a `def`; for
    `inspect.signature`. Tools may be missing."""

    imports: frozenset[str] = frozenset()
    """Modules that the script's text imports, as far as reading finds them; engines may prepare
    them before the script begins."""

    workspace_module: ModuleSource | None = None
    """None: the workspace's own modules cannot be imported."""

    replay: ReplayInputs | None = None
    """None: it is never executed again."""

    clock: Callable[[], float] | None = None
    """Seconds, standing still while only approvals are awaited; safe in any thread. None: those of
    `time.monotonic`."""


class Returned(Struct, frozen=True, kw_only=True):
    """The script came to its end."""

    value: object
    """JSON-like."""


class Raised(Struct, frozen=True, kw_only=True):
    """The script raised an exception that it did not catch, or is not Python."""

    kind: str
    """Name of the exception's class, `ToolError` for ours; `SyntaxError`."""

    message: str
    """What the exception says."""

    line: int | None = None
    """In the script as written."""

    traceback: str = ""
    """With the script's own name and lines only."""

    code: str | None = None
    """Of the `ToolError`."""

    tool: str | None = None
    """Of the `ToolError`: the canonical name of the tool whose call failed."""


class Exceeded(Struct, frozen=True, kw_only=True):
    """The engine ended the script because it used more than a limit."""

    limit: Literal["seconds", "memory_mb", "recursion", "stdout_bytes", "stderr_bytes", "calls"]
    """The field of `Limits`."""

    message: str
    """What happened, in words."""

    line: int | None = None
    """The line of the script that was being executed; None: it is not known."""


class Crashed(Struct, frozen=True, kw_only=True):
    """The engine's process died."""

    message: str
    """How it died, as far as it is known."""


class Suspended(Struct, frozen=True, kw_only=True):
    """`waiting` said so; the run goes on by execution over its record."""


class Diverged(Struct, frozen=True, kw_only=True):
    """The script did not do what its record says; nothing was dispatched."""

    message: str
    """What it did, and what the record says."""

    line: int | None = None
    """The line of the script; None: it is not known."""


Outcome = Returned | Raised | Exceeded | Crashed | Suspended | Diverged


def minor_version(version: str) -> str:
    """Return the first two parts of a version: `3.14` of `3.14.0`."""
    return ".".join(version.split(".")[:2])


class PythonTarget(Struct, frozen=True, kw_only=True):
    """The Python that a script is checked for; it need not be the host's."""

    version: str = "3.14"
    """Major and minor; syntax and standard library are those of this version."""

    platform: str = "linux"
    """As in `sys.platform`."""

    packages: tuple[str, ...] = ()
    """Folders of the installed packages that the script may import."""


LATEST_PYTHON = PythonTarget()
"""The Python of the image, without packages."""


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
        """How its runs go on after a pause; where never, `waiting` must not answer "suspend"."""
        ...

    @property
    def identity(self) -> Mapping[str, str]:
        """The versions that an execution over a record depends on, by name.

        `image` is a digest, `python` a version, `packages` a digest of the package set, empty
        without one.
        """
        ...

    @property
    def target(self) -> PythonTarget:
        """The Python that its scripts are checked for, with the packages that are installed."""
        ...

    async def lacks(self, module: str) -> str:
        """Return why scripts of this engine cannot import a module that another engine may have.

        Args:
            module: Its dotted name.

        Returns:
            The reason, such as "numpy is native code"; empty where the module is there, or where
            no engine is known to have it.
        """
        ...

    async def ready(self) -> None:
        """Start what all runs share, so that no run waits for it; otherwise `run` starts it.

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
    ) -> Outcome:
        """Execute a program; over its record, where it has one."""
        ...

    async def aclose(self) -> None:
        """End all processes of this engine."""
        ...


class Stubs(Struct, frozen=True, kw_only=True):
    """The tools as a type checker sees them: texts of `.pyi` files."""

    main: str
    """The tools without a namespace."""

    modules: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """By module name: one for each namespace, and `tools`."""


class Diagnostic(Struct, frozen=True, kw_only=True):
    """A problem that a type checker found, in its own words."""

    code: str
    """The checker's name for this kind of problem."""

    message: str
    """What it says."""

    line: int
    """1-based, in the checked source."""

    column: int
    """1-based, in characters."""

    end_line: int = 0
    """The line of its end; 0: the checker does not say."""

    end_column: int = 0
    """The column of its end, as `column`; 0: the checker does not say."""


class Checker(Protocol):
    """Checks types of scripts without running them."""

    async def check(
        self,
        source: str,
        *,
        stubs: Stubs,
        inputs: Mapping[str, str],
        target: PythonTarget = LATEST_PYTHON,
    ) -> tuple[Diagnostic, ...]:
        """Return all problems that the type checker finds.

        Args:
            source: The script as it is run: a module with `await` and `return` at its top.
            stubs: The tools it may call.
            inputs: Type of each input, by name, as Python annotations.
            target: The Python that executes it.
        """
        ...

    async def aclose(self) -> None:
        """End the checker's processes."""
        ...
