"""A call, its outcome, and the verdict of policy."""

from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Literal, cast

import msgspec
from msgspec.structs import astuple

from lineshaft.errors import ConfigError
from lineshaft.values._struct import Struct

if TYPE_CHECKING:
    from lineshaft.policy import Policy
    from lineshaft.tools import Tool
    from lineshaft.values._workspace import Stage

Effect = Literal["read", "write", "exec", "external", "model"]
"""What a tool touches: nothing, workspace files, processes, the world beyond, or a model that the
user or host code named."""

Origin = Literal["code", "script", "model", "agent", "shell", "mcp", "editor"]
"""The way a call came in: host code, a script, a model's direct call, a microagent's model, the
command line, an MCP client, a person's click in an editor."""

CallStatus = Literal["done", "failed", "refused", "cancelled", "pending", "unknown"]
"""How a call ended; `unknown`: it was started, and its effect is not known."""

VerdictKind = Literal["allow", "ask", "deny", "stop"]

Arguments = Mapping[str, object]
"""Arguments of a call by parameter name; JSON-like values."""


class CallScope(Struct, frozen=True, kw_only=True):
    """The limits that the containers around a call set to it; made by the gate alone."""

    origins: tuple[Origin, ...]
    """The ways in of the container calls around it, the innermost first: a rule about an origin is
    about the calls under it, too."""

    containers: tuple[str, ...]
    """Keys of these calls, the innermost first."""

    tools: frozenset[str] | None = None
    """Canonical names of the tools that may be called; None: all."""

    policy: "Policy | None" = None
    """What judges instead of the run's policy, never wider; None: the run's."""

    own: "Mapping[str, Tool]" = msgspec.field(default_factory=dict[str, "Tool"])
    """Tools that are there for these calls alone, by canonical name, beside `tools`."""

    replayable: bool = True
    """Whether all containers around the call make the same calls again when they are executed
    again, so that the run can pause in the middle of them."""

    view: "Stage | None" = None
    """The layer in which the changes of the innermost container stay until they are merged; None:
    there is none, and calls work in the run's view."""

    scripts: int = 0
    """How many of these containers execute scripts."""

    most_calls: int | None = None
    """How many calls the innermost container may make; None: that is not for the gate to say."""

    to_model: bool = False
    """Whether a model reads the result as it is: what is long is cut for it."""


class Call(Struct, frozen=True, kw_only=True):
    """One request to a tool, as it arrives at the gate."""

    tool: str
    """Name of the tool: canonical (`github.list_issues`), or the script's spelling of it."""

    arguments: Arguments
    """Arguments by name."""

    origin: Origin
    """The way it came in."""

    id: str = ""
    """Unique in its run; given by the engine, or by the gate where empty."""

    positional: tuple[object, ...] = ()
    """Arguments given by position; bound by the gate, or refused."""

    parent: str | None = None
    """The container call that this call was made under."""

    recorded: bool = False
    """Made while the run's record was played back: the record has this call too."""

    scope: CallScope | None = None
    """Set by the gate where a container made the call; None: nothing stands around it."""


class Value(Struct, frozen=True):
    """A call that ended well."""

    value: object
    """JSON-like: None, bool, int, float, str, list, dict with str keys."""


class Failure(Struct, frozen=True):
    """A call that ended badly; a script sees it as `ToolError`."""

    code: str
    """One of `errors.CallCode`; `E_CANCELLED` of a call that was cancelled."""

    message: str
    """What happened, to what, and what to do."""

    hint: str = ""
    """One more line of advice; empty where there is none."""

    status: CallStatus = "failed"
    """`failed`, `refused` (by policy, validation or budget), `cancelled` or `unknown`."""


Done = Value | Failure

Dispatch = Callable[[Call], Awaitable[Done]]
"""Make one call. Raises only cancellation."""

Middleware = Callable[[Dispatch], Dispatch]


class Verdict(Struct, frozen=True, kw_only=True):
    """The decision of policy about one call, with its reason."""

    kind: VerdictKind
    """Whether the call may be made, is asked about, is refused, or ends the run."""

    rule: str
    """Id of the rule, or `mode:auto` and the like where no rule matched."""

    reason: str = ""
    """The reason in words, shown to the caller."""

    source: str = ""
    """Where the rule is written, as `FILE:LINE`; empty for modes and rules made in code."""


class Pending(Struct, frozen=True, kw_only=True):
    """A call that waits for a person's answer."""

    id: str
    """Id of the call; an answer names it."""

    tool: str
    """Canonical name of the tool."""

    arguments: Arguments
    """Whole, but for secrets. Read back from a record, contents are sizes and hashes."""

    reason: str
    """Why it asks, from the rule."""

    rule: str = ""
    """Id of the rule that asks."""

    run_id: str = ""
    """The run that waits."""

    diff: str = ""
    """The change that a write would make, as a unified diff; empty where it is not known before."""

    holds_for: str = ""
    """What a yes for the run is limited to: scheme, host and port of the addresses that the call
    names, such as `https://example.org:443`; empty: nothing, all calls that the rule asks about."""

    @property
    def grant(self) -> str:
        """The key of an answer for the run: calls with the same key need no other answer.

        Where a container made the call, only those that it makes, and the containers in it.
        """
        return f"{self.rule} {self.tool} {self.holds_for}".rstrip()


class Answer(Struct, frozen=True):
    """A person's answer to one pending call."""

    allow: bool
    """Whether the call may be made."""

    reason: str = ""
    """Why; the script and the record are told."""

    scope: Literal["call", "run"] = "call"
    """`run`: also for later calls of the same tool in this run that the same rule asks about; of a
    tool that takes an address, for those to the same scheme, host and port; of a call that a
    container made, for those of this container and the ones in it."""

    def __post_init__(self) -> None:
        """Refuse what says neither yes nor no: the text "no" would count as a yes."""
        allow, reason, scope = cast("tuple[object, object, object]", astuple(self))
        if not isinstance(allow, bool):
            raise ConfigError(f"Answer(allow=...) is True or False, not {allow!r}")
        if not isinstance(reason, str):
            raise ConfigError(f"Answer(reason=...) is text, not {reason!r}")
        if scope not in ("call", "run"):
            raise ConfigError(f"Answer(scope=...) is 'call' or 'run', not {scope!r}")


Approver = Callable[["tuple[Pending, ...]"], Awaitable[Mapping[str, Answer]]]
"""Answer some or all of the pending calls, by id, `*` all others; ids left out stay pending."""


class ToolSpec(Struct, frozen=True, kw_only=True):
    """The facts about a tool, without the right to call it."""

    name: str
    """Canonical: `tool`, or `namespace.tool`."""

    description: str = ""
    """What it does, for models and people."""

    input_schema: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    """JSON Schema 2020-12 of the arguments, an object."""

    output_schema: Mapping[str, object] | None = None
    """JSON Schema 2020-12 of the results, which are validated; None: it does not say."""

    observed: Mapping[str, object] | None = None
    """The shape of its earlier results, where it has no output schema; not a promise, and not
    compared."""

    effect: Effect = "external"
    """What it touches."""

    destructive: bool = False
    """Whether what it changes may be lost for good, as by a deletion."""

    idempotent: bool = False
    """Whether a second call with the same arguments changes nothing more, and may be made where it
    is not known if the first one was."""

    scriptable: bool = True
    """May be called from a script."""

    lane: str | None = None
    """Calls of one lane run one at a time; None: at once."""

    seconds: float | None = None
    """The tool's own time-out."""

    paths: tuple[tuple[str, ...], ...] = ()
    """Where workspace paths stand in the arguments: keys from the top, `*` for list items."""

    entries: tuple[tuple[str, ...], ...] = ()
    """Those of `paths` whose last part is not followed if it is a symlink (delete, move)."""

    default_paths: bool = False
    """Whether a path may be a default, which is decided and judged like one that is given."""

    secrets: tuple[str, ...] = ()
    """Names of arguments, and of fields in them, that hold passwords: no record shows them."""

    addresses: tuple[str, ...] = ()
    """Arguments that are addresses of the web: a yes for the run holds for their origins alone."""

    container: bool = False
    """Its call makes further calls, which take their own lanes and clocks."""

    calls_as: Origin | None = None
    """Of a container: the way in of the calls that it makes; None: that of its own call."""

    replayable: bool = False
    """Of a container: executed again over the recorded results of its calls, it makes the same
    calls, so that a run can pause in the middle of it."""

    staged: bool = False
    """Its calls act only on files through `Context.workspace`: a call may be tried out on changes
    that never land, and made again where they did not."""

    jailed: bool = False
    """An `exec` tool whose processes run in a probed jail."""

    digest: str = ""
    """Of all that decides how a container works, beside its schema: a run that has called it goes
    on only where it is the same; empty: that is not known."""

    needs_disk: bool = False
    """What its call sees of the run's changes lands first: they are on the disk when it starts."""

    confined: bool = True
    """Its calls touch files only by the paths that it names, and through `Context.workspace`;
    commands do not, nor do tools whose schemas come from elsewhere."""

    positional: tuple[str, ...] = ()
    """Parameters that may be given by position, in order."""

    keywords: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """Parameters that no keyword of Python can name, each by a keyword that is taken for it."""

    words_only: bool = False
    """It is the kit's own tool that can only add words to a spelling checker's list."""

    own_name: str = ""
    """What its server calls it; empty for tools of no server."""

    hints: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    """What its server says of its effects, and its title (annotations of MCP); nothing vouches for
    it."""

    @property
    def namespace(self) -> str:
        """Return the part before the dot, or an empty string."""
        return self.name.rpartition(".")[0]

    def __eq__(self, other: object) -> bool:
        """Compare all that the tool says of itself."""
        if not isinstance(other, ToolSpec):
            return NotImplemented
        said = (name for name in self.__struct_fields__ if name != "observed")
        return all(getattr(self, name) == getattr(other, name) for name in said)

    __hash__ = None  # its schemas are dicts
