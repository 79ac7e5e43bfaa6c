"""A tool: a function, and its description for callers, policy and models."""

import difflib
import functools
import sys
from collections.abc import Callable, Mapping
from typing import (
    TYPE_CHECKING,
    Any,
    Concatenate,
    Generic,
    Self,
    TypedDict,
    Unpack,
    cast,
    get_args,
    overload,
)

from msgspec import field
from msgspec.structs import replace

from lineshaft.errors import ConfigError
from lineshaft.tools._built_in import BuiltIn, built_in
from lineshaft.tools._names import check_name, keyword_names
from lineshaft.tools._unjailed import unjailed
from lineshaft.tools.schemas import (
    Contract,
    address_names,
    as_list,
    as_schema,
    is_awaited,
    own_name,
    password_names,
    places,
    schema_digest,
    target_of,
)
from lineshaft.values import Effect, Origin, Struct, ToolSpec

if TYPE_CHECKING:
    from typing_extensions import ParamSpec, TypeVar

    P = ParamSpec("P", default=...)
    R = TypeVar("R", covariant=True, default=Any)
else:
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R = TypeVar("R", covariant=True)

Q = ParamSpec("Q")
S = TypeVar("S")
Function = Callable[..., object]

LANE = "(by effect)"
"""The lane of a tool that names none: found from its effect and namespace."""


class ToolOptions(TypedDict, total=False):
    """The options of a tool beside its function."""

    name: str
    """Canonical name, `tool` or `namespace.tool`; the function's own where left out."""

    description: str
    """For models; the docstring's where left out."""

    effect: Effect
    """`read`, `write` (workspace files), `exec` (processes), `model` (a request to a model that the
    user or host code named), `external` where left out."""

    lane: str | None
    """Calls of one lane run one at a time; None: at once."""

    seconds: float | None
    """Its own time-out."""

    destructive: bool
    """Whether it may destroy data for good."""

    idempotent: bool
    """Whether doing it twice is the same as doing it once."""

    scriptable: bool
    """Whether scripts may call it; True where left out."""

    container: bool
    """Whether its call makes further calls."""

    calls_as: Origin | None
    """Of a container: the way in of these calls, in policy; that of its own where left out."""

    replayable: bool
    """Of a container: whether it makes the same calls when it is executed again over their recorded
    results, so that a run can pause in the middle of it. Everything that it takes from the world
    then comes from its arguments and its calls."""

    digest: str
    """Of a replayable container: names all that decides how it works, beside its schema. A run that
    has called it is not resumed with another one."""

    staged: bool
    """Of a tool with effect `write`: whether it acts only on files through `Context.workspace`, so
    that it can be tried out on changes that never land."""

    jailed: bool
    """Of a tool with effect `exec`: whether its processes run in a jail or not at all, so that mode
    `auto` need not ask."""

    viewed: bool
    """Whether its programs work in views of their own (`lineshaft.kit.view`), in a jail where one
    works. Where none does they work over a private copy without a wall, and the tool counts as
    `exec` that is not jailed, which mode `auto` asks about."""

    needs_disk: bool
    """Whether the run's changes land before each of its calls, as it looks at the disk itself. True
    for `exec` where left out, but for containers; False for all else."""


_SWITCHES = (
    "destructive",
    "idempotent",
    "scriptable",
    "container",
    "replayable",
    "staged",
    "jailed",
    "needs_disk",
)
"""Options that are True or False."""


class _Options(Struct, frozen=True, kw_only=True):
    """The options of a tool, complete."""

    name: str | None = None
    description: str | None = None
    effect: Effect | None = None
    lane: str | None = LANE
    seconds: float | None = None
    destructive: bool = False
    idempotent: bool = False
    scriptable: bool = True
    container: bool = False
    calls_as: Origin | None = None
    replayable: bool = False
    digest: str = ""
    staged: bool = False
    jailed: bool = False
    viewed: bool = False
    needs_disk: bool | None = None
    from_schema: bool = False
    """Its schemas come from elsewhere."""

    words_only: bool = False
    """See `Tool.counted_as_words_only`."""

    own_name: str = ""
    """See `Tool.listed_as`."""

    hints: Mapping[str, object] = field(default_factory=dict[str, object])

    def __post_init__(self) -> None:
        if self.effect is not None and self.effect not in get_args(Effect):
            raise ConfigError(f"effect {self.effect!r} is none of {', '.join(get_args(Effect))}")
        seconds = cast("object", self.seconds)
        if seconds is not None and not (isinstance(seconds, int | float) and seconds > 0):
            raise ConfigError(f"seconds must be a number above 0, not {seconds!r}")
        for option, given in (("description", self.description), ("lane", self.lane)):
            if not isinstance(cast("object", given), str | None):
                raise ConfigError(f"{option} must be text, not {given!r}")
        for option in _SWITCHES:
            said = cast("object", getattr(self, option))
            if not isinstance(said, bool) and not (option == "needs_disk" and said is None):
                raise ConfigError(f"{option} must be True or False, not {said!r}")
        if self.staged and self.effect != "write":
            raise ConfigError(f"staged is for tools with effect 'write', not {self.effect!r}")
        if self.jailed and self.effect != "exec":
            raise ConfigError(f"jailed is for tools with effect 'exec', not {self.effect!r}")
        if self.needs_disk and (self.container or self.staged):
            raise ConfigError("needs_disk is not for containers and staged tools")
        if self.viewed and (self.container or self.needs_disk):
            raise ConfigError("viewed is not for containers and tools that need the disk")
        if not self.container and (self.calls_as is not None or self.replayable or self.digest):
            raise ConfigError("calls_as, replayable and digest are for containers")

    @property
    def touches(self) -> Effect:
        """The effect, also where none was declared."""
        return self.effect or "external"

    @property
    def lands(self) -> bool:
        """Whether changes land before its calls, also where that was not declared."""
        if self.needs_disk is None:
            return self.effect == "exec" and not self.container
        return self.needs_disk

    def lane_of(self, name: str) -> str | None:
        """Return the lane for a tool of this name."""
        if self.lane != LANE:
            return self.lane
        if self.effect == "read" or self.container:
            return None
        namespace = name.rpartition(".")[0]
        return namespace or ("external" if self.touches == "external" else "workspace")


class Tool(Generic[P, R]):
    """A function that may be called, with a name, a schema and an effect.

    Made by `@tool`, `Tool.from_function` or `Tool.from_schema`. Calling a tool runs its plain
    function, outside the gate and unchecked: for tests of the function.
    """

    def __init__(
        self,
        function: Callable[P, R],
        options: _Options,
        contract: Callable[[bool], Contract],
    ) -> None:
        self.function: Function = function
        """The function itself."""

        self._options = options
        self._contract_of = contract
        self.brings: Mapping[str, Tool] = {}
        """Of a container: the tools of its own, by canonical name."""

        self.is_unbound = False
        """Whether it is a method that still lacks its object."""

        functools.update_wrapper(self, function, updated=())

    @classmethod
    def from_function(
        cls, function: Callable[Q, S], /, **options: Unpack[ToolOptions]
    ) -> "Tool[Q, S]":
        """Return a tool that runs a function; its schemas come from the annotations.

        Args:
            function: Sync or async, or a bound method.
            **options: See `ToolOptions`.

        Raises:
            ConfigError: It has no name, or a type has no JSON Schema.
        """
        made = tool(**options)(function)
        _ = made.spec
        return made

    @classmethod
    def from_schema(
        cls,
        *,
        input_schema: Mapping[str, object],
        function: Function,
        output_schema: Mapping[str, object] | None = None,
        **options: Unpack[ToolOptions],
    ) -> "Tool[..., Any]":
        """Return a tool whose schemas come from elsewhere.

        Args:
            input_schema: JSON Schema of the arguments, an object; nothing in it is fetched.
            function: Sync or async; takes the arguments as keywords.
            output_schema: JSON Schema of the result, where known.
            **options: See `ToolOptions`; `name` is needed.

        Raises:
            ConfigError: A schema is not one, or leads outside or in circles.
        """
        _must_be_known(options)
        made = replace(_Options(**options), from_schema=True)
        name = check_name(made.name)
        if not callable(cast("object", function)):
            raise ConfigError(f"the function of {name!r} is {function!r}, which cannot be called")
        from lineshaft.tools.from_schema import SchemaContract  # noqa: PLC0415  jsonschema is slow to import

        contract = SchemaContract(input_schema, output_schema, function=function, name=name)
        found: Tool[..., Any] = Tool(function, made, lambda _method: contract)
        _ = found.spec
        return found

    @property
    def name(self) -> str:
        """Canonical name."""
        return self._options.name or ""

    @property
    def effect_hint(self) -> str:
        """Advice where a call of it asks because its effect is not declared; empty where it is."""
        if self._options.effect is not None:
            return ""
        counts = f"`{self.name}` declares no effect, so it counts as `external` and asks"
        return f"{counts}: say `@tool(effect=...)`"

    @functools.cached_property
    def contract(self) -> Contract:
        """Its contract; made at first use, so that types may be defined after it."""
        return self._contract_of(self.is_unbound)

    @functools.cached_property
    def schema_digest(self) -> str:
        """The digest of what it takes, in hexadecimal."""
        return schema_digest(self.spec.input_schema)

    @functools.cached_property
    def spec(self) -> ToolSpec:
        """The facts about it, without the right to call it."""
        schema = self.contract.input_schema
        paths, entries = places(schema)
        required = frozenset(as_list(schema.get("required")))
        options = self._options
        passwords = password_names(schema)
        keywords = keyword_names(as_schema(schema.get("properties")))
        about = self.contract.description if options.description is None else options.description
        return ToolSpec(
            name=self.name,
            description=about,
            input_schema=schema,
            output_schema=self.contract.output_schema,
            effect=options.touches,
            destructive=options.destructive,
            idempotent=options.idempotent,
            scriptable=options.scriptable,
            lane=options.lane_of(self.name),
            seconds=options.seconds,
            paths=paths,
            entries=entries,
            default_paths=any(len(way) > 1 or not required.issuperset(way) for way in paths),
            secrets=(*passwords, *(word for word, own in keywords.items() if own in passwords)),
            addresses=address_names(schema),
            container=options.container,
            calls_as=options.calls_as,
            replayable=options.replayable,
            digest=options.digest,
            staged=options.staged,
            jailed=options.jailed,
            needs_disk=options.lands,
            confined=not options.from_schema and (options.effect != "exec" or options.jailed),
            positional=self.contract.positional,
            keywords=keywords,
            words_only=options.words_only,
            own_name=options.own_name,
            hints=options.hints,
        )

    @functools.cached_property
    def is_async(self) -> bool:
        """Whether its body is awaited; otherwise it runs in a thread."""
        return is_awaited(self.function)

    def with_name(self, name: str) -> "Tool[P, R]":
        """Return the same tool under another canonical name.

        Args:
            name: `tool` or `namespace.tool`; a lane that was not given follows the namespace.
        """
        options = replace(self._options, name=check_name(name))
        return self._copy(self.function, options, method=self.is_unbound)

    @property
    def is_built_in(self) -> bool:
        """Whether it is a tool of the kit: what it returns is plain data."""
        return isinstance(self.contract, BuiltIn)

    @property
    def is_viewed(self) -> bool:
        """Whether it, or a tool that it brings, runs programs in views of their own."""
        return self._options.viewed or any(tool.is_viewed for tool in self.brings.values())

    def without_jail(self, *, only_viewed: bool = False) -> "Tool[P, R]":
        """Return the same tool, no longer counted as jailed, nor are the tools that it brings.

        A jailed one that needs no disk needs it then, unless its processes have views of their own.

        Args:
            only_viewed: Whether that is done to tools alone whose programs work in such views.
        """
        function, options = self.function, self._options
        if options.viewed:
            function = unjailed(function)
            options = replace(options, effect="exec", jailed=False, staged=False, needs_disk=False)
        elif not only_viewed:
            options = replace(options, jailed=False)
            if self._options.jailed and not self._options.needs_disk:
                options = replace(options, needs_disk=None)  # as the effect has it
        made = self._copy(function, options, method=self.is_unbound)
        made.brings = {
            name: tool.without_jail(only_viewed=only_viewed) for name, tool in self.brings.items()
        }
        return made

    def counted_as_words_only(self) -> "Tool[P, R]":
        """Return the same tool, known to built-in rules as one that can only add words to a list.

        That is a claim about its code, so it is for the kit's own function alone, not for what
        wraps it.

        Raises:
            ConfigError: It is another tool.
        """
        kits = getattr(sys.modules.get(_WORDS), "add_words", None)
        if not isinstance(kits, Tool) or self.function is not cast("Tool", kits).function:
            raise ConfigError(f"{self.name!r} is not the kit's tool for words: rules ask about it")
        options = replace(self._options, words_only=True)
        return self._copy(self.function, options, method=self.is_unbound)

    def listed_as(self, own_name: str, hints: Mapping[str, object]) -> "Tool[P, R]":
        """Return the same tool with what its server says of it.

        Args:
            own_name: What it is called there.
            hints: What is said of its effects, and its title, as MCP names them.
        """
        options = replace(self._options, own_name=own_name, hints=hints)
        return self._copy(self.function, options, method=self.is_unbound)

    def bringing(self, tools: "Mapping[str, Tool]") -> "Tool[P, R]":
        """Return the same container with tools of its own.

        They are there for the calls that it makes, and for nobody else; it can call no others.
        Policy judges their calls like all calls.

        Args:
            tools: By canonical name; a `Toolset` is such a mapping.

        Raises:
            ConfigError: It is no container.
        """
        if not self._options.container:
            raise ConfigError(f"{self.name!r} brings tools, and makes no calls: it is no container")
        made = self._copy(self.function, self._options, method=self.is_unbound)
        made.brings = dict(tools)
        return made

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run the plain function: no gate, no policy, no checks."""
        return cast("R", self.function(*args, **kwargs))

    def __set_name__(self, owner: type, name: str) -> None:
        outer = getattr(target_of(self.function), "__qualname__", "").rpartition(".")[0]
        mine = outer == owner.__qualname__  # not where a class only mentions a tool
        if mine and not isinstance(self.function, staticmethod):
            self.is_unbound = True  # for good: `@dataclass(slots=True)` makes the class once more

    @overload
    def __get__(self, instance: None, owner: type) -> Self: ...

    @overload
    def __get__(
        self: "Tool[Concatenate[Any, Q], S]", instance: object, owner: type | None = None
    ) -> "Tool[Q, S]": ...

    def __get__(self, instance: object, owner: type | None = None) -> object:
        """Return the tool of one object."""
        if instance is None or not self.is_unbound:
            return self
        bound = functools.partial(self.function, instance)
        return self._copy(bound, self._options, method=False)

    def __repr__(self) -> str:
        return f"<Tool {self.name} ({self._options.touches})>"

    def _copy(self, function: Function, options: _Options, *, method: bool) -> "Tool[..., Any]":
        made: Tool[..., Any] = Tool(function, options, lambda _method: self.contract)
        made.is_unbound, made.brings = method, self.brings
        functools.update_wrapper(made, self.function, updated=())
        return made


@overload
def tool(function: Callable[Q, S], /) -> Tool[Q, S]: ...


@overload
def tool(
    **options: Unpack[ToolOptions],
) -> Callable[[Callable[Q, S]], Tool[Q, S]]: ...


def tool(function: Function | None = None, /, **options: Unpack[ToolOptions]) -> object:
    """Make a tool of a function, or of a method of a class with state.

    Args:
        function: Sync or async. Its annotations become the schemas, its Google docstring the
            descriptions; a parameter annotated `Context` is filled in and left out of them.
        **options: See `ToolOptions`.

    Returns:
        The tool; with options only, a decorator that makes it.

    Raises:
        ConfigError: An option is wrong, or the function has no name.
    """
    _must_be_known(options)
    made = _Options(**options)
    if function is None:
        return functools.partial(_tool, options=made)
    return _tool(function, made)


_OPTION_NAMES = tuple(ToolOptions.__annotations__)
_WORDS = "lineshaft.kit.words.tool"
"""The module of the kit's tool for words, which this room does not import."""


def _must_be_known(options: Mapping[str, object]) -> None:
    unknown = sorted(options.keys() - _OPTION_NAMES)
    if unknown:
        close = difflib.get_close_matches(unknown[0], _OPTION_NAMES, 1)
        hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(_OPTION_NAMES)}"
        raise ConfigError(f"@tool has no option {unknown[0]!r}", hint=hint)


def _tool(function: Function, options: _Options) -> "Tool[..., Any]":
    if isinstance(function, Tool):
        raise ConfigError(f"{function!r} is a tool already", hint="use it, or its with_name")
    if not callable(function):
        hint = (
            "put @tool on a method, a staticmethod or a function" if _in_a_class(function) else ""
        )
        raise ConfigError(f"{function!r} is no function, so it cannot be a tool", hint=hint)
    if isinstance(function, type):
        hint = "give an object of it, or a function that makes one"
        raise ConfigError(f"{function.__qualname__} is a class, so it cannot be a tool", hint=hint)
    name = check_name(own_name(function) if options.name is None else options.name)

    def typed(method: bool) -> Contract:  # noqa: FBT001  a callback
        from lineshaft.tools.typed import TypedContract  # noqa: PLC0415  pydantic is slow to import

        return TypedContract(function, method=method, name=name)

    def contract(method: bool) -> Contract:  # noqa: FBT001  a callback
        return built_in(function, lambda: typed(method)) or typed(method)

    return Tool(function, replace(options, name=name), contract)


def _in_a_class(thing: object) -> bool:
    return isinstance(thing, classmethod | property | functools.cached_property)
