"""What a tool may know and do while it runs."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lineshaft.values._calls import Dispatch
from lineshaft.values._python import PythonOptions
from lineshaft.values._workspace import Workspace

Elicit = Callable[[str, Mapping[str, object]], Awaitable[object]]

Reach = Literal["open", "readonly", "hidden"]
"""What a program inside a jail may do with one path of the workspace."""


def nothing_in_reach(path: str) -> Reach:
    """Return what holds where no policy was asked: nothing may be seen."""
    del path
    return "hidden"


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Filled in where a tool has a parameter annotated with it; left out of the schema."""

    workspace: Workspace
    """Files and commands of this run."""

    call_id: str
    run_id: str
    key: str
    """The same for the same call of a resumed run: for tools that must not act twice."""

    deadline: float
    """When the call's time is up, in seconds of `time.monotonic()`."""

    dispatch: Dispatch
    """Make a further call, as a child of this one; refused unless the tool is a container."""

    notify: Callable[[str, Mapping[str, object]], None]
    """Put an event of this call into the record: kind, data."""

    ask: Elicit
    deps: object = None
    """What the session was given as `deps`."""

    trace: Mapping[str, str] = field(default_factory=dict[str, str])
    """The trace that the run belongs to: `traceparent` and the like (W3C Trace Context)."""

    reach: Callable[[str], Reach] = nothing_in_reach
    """What policy lets a program of this call do with a canonical path, without asking again."""

    python: PythonOptions = field(default_factory=PythonOptions)
    """The session's full Python."""

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Say how far the call is.

        Args:
            done: Work done so far, in any unit.
            total: All work in the same unit, where known.
            text: What is being done.
        """
        self.notify("progress", {"done": done, "total": total, "text": text})

    def log(self, text: str) -> None:
        """Put a line into the run's record."""
        self.notify("log", {"text": text})

    async def elicit(self, message: str, schema: Mapping[str, object]) -> object:
        """Ask the person behind the run for a value.

        Raises:
            ToolError: `E_DENIED`, where nobody can be asked.
        """
        return await self.ask(message, schema)
