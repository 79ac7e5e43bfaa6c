"""What a tool may know and do while it runs."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from lineshaft.errors import ToolError
from lineshaft.values._calls import Dispatch
from lineshaft.values._python import PythonOptions
from lineshaft.values._workspace import Workspace

Elicit = Callable[[str, Mapping[str, object]], Awaitable[object]]
"""Asks a person: a message and the JSON Schema of what they may answer."""

Sample = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object]]]
"""Asks a model: what MCP calls the parameters of `sampling/createMessage`, and its result."""

Roots = Callable[[], Awaitable[Sequence[Mapping[str, object]]]]
"""Gives the folders that somebody works in, as MCP lists them: `uri` (`file://...`) and `name`."""

Askable = Literal["elicit", "sample", "roots"]
"""What whoever is behind a run may be asked for: a form, an answer of their model, their roots."""


def offered(
    elicit: Elicit | None, sample: Sample | None, roots: Roots | None
) -> frozenset[Askable]:
    """Return what may be asked for, of these."""
    ways: Mapping[Askable, object] = {"elicit": elicit, "sample": sample, "roots": roots}
    return frozenset(name for name, way in ways.items() if way is not None)


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

    tool: str = ""
    """The tool's canonical name."""

    ask: Elicit | None = None
    ask_model: Sample | None = None
    ask_roots: Roots | None = None
    """What whoever is behind the run offers; None: it is not to be had."""

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

    @property
    def offers(self) -> frozenset[Askable]:
        """What whoever is behind the run may be asked for."""
        return offered(self.ask, self.ask_model, self.ask_roots)

    async def elicit(self, message: str, schema: Mapping[str, object]) -> object:
        """Ask the person behind the run for a value.

        Raises:
            ToolError: `E_DENIED`, where nobody can be asked.
        """
        if self.ask is None:
            raise ToolError("E_DENIED", f"nobody can be asked: {message!r}")
        return await self.ask(message, schema)

    async def sample(self, request: Mapping[str, object]) -> Mapping[str, object]:
        """Ask the model of whoever is behind the run.

        Args:
            request: As the parameters of `sampling/createMessage` in MCP: `messages`, `maxTokens`.

        Returns:
            As its result there: `role`, `content`, `model`.

        Raises:
            ToolError: `E_DENIED`, where nobody offers a model, or they would not.
        """
        if self.ask_model is None:
            raise ToolError("E_DENIED", "nobody offers a model: the client has no sampling")
        return await self.ask_model(request)

    async def roots(self) -> Sequence[Mapping[str, object]]:
        """Return the folders that whoever is behind the run works in: `uri`, `name`.

        Raises:
            ToolError: `E_DENIED`, where nobody tells.
        """
        if self.ask_roots is None:
            raise ToolError("E_DENIED", "nobody tells their roots: the client has none")
        return await self.ask_roots()
