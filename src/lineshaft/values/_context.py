"""The context of a call: what a tool may know and do while it runs."""

import math
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, cast

from msgspec import field

from lineshaft.errors import ToolError
from lineshaft.values._belongings import Belongings
from lineshaft.values._calls import Dispatch
from lineshaft.values._cutting import NO_SECRETS, SecretFinder
from lineshaft.values._inner_script import RunInner, no_scripts
from lineshaft.values._python import PythonOptions
from lineshaft.values._runs import ModelUsage
from lineshaft.values._struct import Struct
from lineshaft.values._workspace import Workspace

if TYPE_CHECKING:
    from lineshaft.policy import Policy

Elicit = Callable[[str, Mapping[str, object]], Awaitable[object]]
"""Asks a person: a message, and the JSON Schema of the answer."""

Sample = Callable[[Mapping[str, object]], Awaitable[Mapping[str, object]]]
"""Asks a model: takes the parameters of MCP's `sampling/createMessage`, gives its result."""

Roots = Callable[[], Awaitable[Sequence[Mapping[str, object]]]]
"""Gives the folders that a caller works in, as MCP lists them: `uri` (`file://...`) and `name`."""

Askable = Literal["elicit", "sample", "roots"]
"""The kinds of question to a run's caller: a form, an answer of its model, its roots."""


class Ask(Struct, frozen=True, kw_only=True):
    """One question of a tool to the caller of its run."""

    kind: Askable
    message: str = ""
    """Of a form."""

    schema: Mapping[str, object] = field(default_factory=dict[str, object])
    """Of a form: the JSON Schema of the answer."""

    request: Mapping[str, object] = field(default_factory=dict[str, object])
    """Of a model."""

    key: str = ""
    """The tool's name for it, where the tool asks several questions at once."""


Answerer = Callable[[Sequence[Ask]], Awaitable[Sequence[object]]]
"""Answers several questions of a tool at once, in order; a `ToolError` among the answers stands for
a question that has none."""


async def nobody(asks: Sequence[Ask]) -> Sequence[object]:
    """Answer a question where the run has no caller to ask."""
    return [not_offered(ask) for ask in asks]


def not_offered(ask: Ask) -> ToolError:
    """Return the error for a question that the caller does not answer."""
    match ask.kind:
        case "elicit":
            text = f"no person can be asked: {ask.message!r}"
        case "sample":
            text = "no model is offered: the client has no sampling"
        case "roots":
            text = "no roots are offered: the client has none"
    return ToolError("E_DENIED", text)


Reach = Literal["open", "readonly", "hidden"]
"""What a program inside a jail may do with one path of the workspace."""


def nothing_in_reach(path: str) -> Reach:
    """Return the access where no policy was asked: none."""
    del path
    return "hidden"


def nothing_else(arguments: Mapping[str, object]) -> bool:
    """Permit no other arguments: no policy was asked."""
    del arguments
    return False


class Narrowing(Struct, frozen=True, kw_only=True):
    """The most that a container allows to some of its calls."""

    tools: frozenset[str] | None = None
    """Canonical names; None: all that the container may call."""

    policy: "Policy | None" = None
    """Judges beside the run's own; the stricter verdict holds."""

    read: tuple[str, ...] | None = None
    """Folders and files that may be read, beside those of `write`; None with `write` None: all."""

    write: tuple[str, ...] | None = None
    """Folders and files that may be changed; None with `read` given: none."""


Confine = Callable[[Narrowing], Awaitable["Context"]]
"""Makes a context that reaches less."""


async def not_narrowed(narrowing: Narrowing) -> "Context":
    """Refuse to narrow the context of a call that cannot make any."""
    del narrowing
    raise ToolError("E_DENIED", "only a container makes calls, and can narrow them")


Commit = Callable[[], Awaitable[bool]]
"""Makes the changes of a container those of what stands around it; says whether there were any."""


async def nothing_to_commit() -> bool:
    """Commit nothing: the call keeps no changes back."""
    return False


def not_counted(model: str, usage: ModelUsage) -> None:
    """Count nothing: there is no run."""
    del model, usage


def no_time() -> float:
    """Return that no time has passed: there is no run."""
    return 0.0


class Context(Struct, frozen=True, kw_only=True):
    """Filled in where a tool has a parameter annotated with it; left out of the schema."""

    workspace: Workspace
    """Files and commands of this run."""

    call_id: str
    """Unique in its run."""

    run_id: str
    """The run that the call belongs to."""

    key: str
    """The same for the same call of a resumed run: for tools that must not act twice."""

    deadline: float
    """When the call's time is up, in seconds of `time.monotonic()`."""

    clock: Callable[[], float] = no_time
    """Gives the seconds on the run's clock, which stands still while a person is asked; from any
    thread. What lies between two looks counts."""

    dispatch: Dispatch
    """Make a further call, as a child of this one; refused unless the tool is a container."""

    notify: Callable[[str, Mapping[str, object]], None]
    """Put an event of this call into the record: kind, data."""

    ask: Answerer = nobody
    """Ask the caller of the run several questions at once, of the kinds in `offers`."""

    offers: frozenset[Askable] = frozenset()
    """The kinds of question that the caller answers."""

    deps: object = None
    """What the session was given as `deps`."""

    trace: Mapping[str, str] = field(default_factory=dict[str, str])
    """The trace that the run belongs to: `traceparent` and the like (W3C Trace Context)."""

    reach: Callable[[str], Reach] = nothing_in_reach
    """The access that policy gives a program of this call to a canonical path, unasked."""

    permits: Callable[[Mapping[str, object]], bool] = nothing_else
    """Says whether policy lets the call, unasked, go on with other arguments in the place of its
    own: for tools that are led elsewhere than they were sent, as by a redirect."""

    python: PythonOptions = field(default_factory=PythonOptions)
    """The session's full Python."""

    whole: bool = True
    """Whether the immediate caller is code (a script, a command, another tool), which is given
    results whole; a model's direct call is given what fits, with a sign of what was cut."""

    secrets: SecretFinder = NO_SECRETS
    """What a tool that cuts text does not cut in two (`beginning`, `ending`)."""

    belongings: Belongings = field(default_factory=Belongings)
    """Resources that tools keep between calls of the session."""

    confine: Confine = not_narrowed
    """Makes a context that reaches less; `narrowed` calls it."""

    commit: Commit = nothing_to_commit
    """Makes the changes that a container and its calls have made so far those of what stands around
    it, all or none, after its guards have looked; raises `Guarded` or `StaleFile`. Without it that
    is done when the container returns; what a container has not committed when it fails is
    dropped."""

    spent: Callable[[str, ModelUsage], None] = not_counted
    """Counts what a request to a model has used, by the model's name, in the run's usage."""

    replaying: Callable[[], bool] = bool
    """Says whether a container is executed again, and results of its calls are recorded that it has
    not been given yet."""

    script: RunInner = no_scripts
    """Has a script executed over the tools that a container may call; its calls are the
    container's, and a run that pauses in the middle of it goes on there."""

    uncommitted: Callable[[], bool] = bool
    """Says whether a container or its calls have changed anything that is kept back."""

    async def narrowed(
        self,
        *,
        tools: Iterable[str] | None = None,
        policy: "Policy | None" = None,
        read: Iterable[str] | None = None,
        write: Iterable[str] | None = None,
    ) -> "Context":
        """Return this context for calls that reach less; it is for containers.

        Nothing becomes wider by it, and what is narrowed twice is left what both leave. A call of
        anything else is `E_DENIED`, and so are the calls of containers that it calls.

        Args:
            tools: Canonical names of the tools that may be called.
            policy: Judges each call beside the run's own; the stricter verdict holds.
            read: Folders and files of the workspace that calls may read, and nothing else of it.
                Tools that are not confined by that (commands, tools of MCP servers) are denied
                unless `tools` names them.
            write: Those that calls may change, and read.

        Raises:
            ToolError: The tool is no container.
            WorkspaceError: A path leads out of the workspace.
        """
        narrowing = Narrowing(
            tools=None if tools is None else frozenset(tools),
            policy=policy,
            read=None if read is None else tuple(read),
            write=None if write is None else tuple(write),
        )
        return await self.confine(narrowing)

    def progress(self, done: float, total: float | None = None, text: str = "") -> None:
        """Report the progress of the call.

        Args:
            done: Work done so far, in any unit. Numbers that are not finite are ignored.
            total: All work in the same unit, where known.
            text: The present step, in words.
        """
        if math.isfinite(done):
            known = total is not None and math.isfinite(total)
            self.notify("progress", {"done": done, "total": total if known else None, "text": text})

    def log(self, text: str) -> None:
        """Put a line into the run's record."""
        self.notify("log", {"text": text})

    async def elicit(self, message: str, schema: Mapping[str, object]) -> object:
        """Ask the person behind the run for a value.

        Raises:
            ToolError: `E_DENIED`, where no person can be asked.
        """
        return await self._one(Ask(kind="elicit", message=message, schema=schema))

    async def sample(self, request: Mapping[str, object]) -> Mapping[str, object]:
        """Ask the model of the run's caller.

        Args:
            request: As the parameters of `sampling/createMessage` in MCP: `messages`, `maxTokens`.

        Returns:
            As its result there: `role`, `content`, `model`.

        Raises:
            ToolError: `E_DENIED`, where the caller offers no model, or declines.
        """
        said = await self._one(Ask(kind="sample", request=request))
        return cast("Mapping[str, object]", said)

    async def roots(self) -> Sequence[Mapping[str, object]]:
        """Return the folders that the run's caller works in: `uri`, `name`.

        Raises:
            ToolError: `E_DENIED`, where the caller does not say.
        """
        said = await self._one(Ask(kind="roots"))
        return cast("Sequence[Mapping[str, object]]", said)

    async def _one(self, ask: Ask) -> object:
        if ask.kind not in self.offers:
            raise not_offered(ask)
        [said] = await self.ask([ask])
        if isinstance(said, ToolError):
            raise said
        return said
