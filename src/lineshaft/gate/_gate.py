"""The gate: the parts that all runs of a session share."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING

import anyio
import msgspec

from lineshaft.gate._lanes import Lanes
from lineshaft.policy import Policy, Subject
from lineshaft.tools import ShapeBook, Tool
from lineshaft.trace import Redactor
from lineshaft.values import (
    Belongings,
    Call,
    Caller,
    Guard,
    InnerScript,
    Middleware,
    PythonOptions,
    RunResult,
    Struct,
    ToolSpec,
)

if TYPE_CHECKING:
    from lineshaft.gate._script_place import ScriptPlace

Scripting = Callable[["ScriptPlace", InnerScript], Awaitable[RunResult]]
"""Executes a script of a container."""


class Gate(Struct, frozen=True, kw_only=True):
    """Tools, policy and the caller behind the runs; each run passes it through a `CallPipeline`."""

    tools: Mapping[str, Tool]
    """By canonical name, as they are at each moment."""

    policy: Policy
    redactor: Redactor
    why_missing: Callable[[str], str] = lambda _name: ""
    """Says why a tool is not there that may well be called; empty where nothing is known."""

    caller: Caller = msgspec.field(default_factory=Caller)
    """The caller of runs that name none."""

    middleware: tuple[Middleware, ...] = ()
    """Outermost first; what it sends on passes policy like any call."""

    deps: object = None
    """Given to tools as `Context.deps`."""

    python: PythonOptions = msgspec.field(default_factory=PythonOptions)
    """Given to tools as `Context.python`."""

    belongings: Belongings = msgspec.field(default_factory=Belongings)
    """Given to tools as `Context.belongings`; the maker of the gate closes them."""

    shapes: ShapeBook | None = None
    """Sees the results of tools that do not say what they return."""

    scripting: Scripting | None = None
    """Executes the scripts of containers; None: there are none."""

    guards: tuple[Guard, ...] = ()
    """Look at changes before they land."""

    lanes: Lanes = msgspec.field(default_factory=Lanes)
    approving: anyio.Lock = msgspec.field(default_factory=anyio.Lock)
    """One call of that approver at a time."""

    def subject(self, spec: ToolSpec | None, call: Call, paths: tuple[str, ...] = ()) -> Subject:
        """Return a call as policy sees it.

        Args:
            spec: Its tool; None where there is none.
            call: With canonical arguments.
            paths: Every workspace path that they name, decided.
        """
        return Subject(spec=spec, call=call, paths=paths)
