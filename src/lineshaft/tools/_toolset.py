"""A set of tools, and small ways to make others from it."""

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeGuard, TypeVar, cast, overload, runtime_checkable

from lineshaft.errors import ConfigError
from lineshaft.tools._names import check_free, model_name, script_name
from lineshaft.tools._tool import Tool
from lineshaft.values import ToolSpec

D = TypeVar("D")
Rename = Mapping[str, str] | Callable[[str], str]


class Toolset(Mapping[str, Tool]):
    """Tools by canonical name: those without a namespace first, then by alphabet.

    Args:
        tools: Tools, functions (their effect is then `external`), other toolsets, microagents,
            and objects of classes that have `@tool` methods.

    Raises:
        ConfigError: It is no list of tools, a name is reserved, or two tools have the same name in
            some spelling.
    """

    def __init__(self, tools: Iterable[object] = ()) -> None:
        if isinstance(tools, str | Tool) or not isinstance(cast("object", tools), Iterable):
            raise ConfigError(
                f"tools must be a list of tools, not {tools!r:.80}",
                hint="write [mine, kit.tools()]",
            )
        items = list(tools)
        self._runtime = frozenset[str]().union(*(_runtime_of(item) for item in items))
        self._fill([tool for item in items for tool in _tools_of(item)])

    @classmethod
    def from_object(cls, holder: object) -> "Toolset":
        """Return the `@tool` methods of an object, as tools.

        Args:
            holder: Holds their state; not a class.

        Raises:
            ConfigError: It has none.
        """
        return cls(_methods(holder))

    @classmethod
    def of_runtime(cls, tools: Iterable[Tool]) -> "Toolset":
        """Return the runtime's own tools, which alone may have reserved names.

        It adds `search_tools` and the like to a user's tools:
        `Toolset(given) | Toolset.of_runtime([search_tools])`. Combining keeps the permission,
        and still refuses a name twice.

        Args:
            tools: The tools.
        """
        found = list(tools)
        made = cls()
        made._runtime = frozenset(tool.name for tool in found)
        made._fill(found)
        return made

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The specs of the tools, in order."""
        return tuple(tool.spec for tool in self._tools.values())

    def filter(self, keep: Callable[[Tool], bool]) -> "Toolset":
        """Return the tools that stay.

        Args:
            keep: Whether a tool stays.
        """
        return self._of(tool for tool in self._tools.values() if keep(tool))

    def rename(self, names: Rename) -> "Toolset":
        """Return the tools under other names.

        Args:
            names: New name by old, others keep theirs; or a function from old to new.

        Raises:
            ConfigError: There is no tool of an old name, or a new one is wrong or taken.
        """
        new = {name: names(name) for name in self._tools} if callable(names) else dict(names)
        for name in new.keys() - self._tools.keys():
            raise ConfigError(f"no tool is named {name!r}", hint=self._near(name))
        return self._of(tool.with_name(new.get(name, name)) for name, tool in self._tools.items())

    def prefix(self, namespace: str) -> "Toolset":
        """Return the tools in a namespace.

        Args:
            namespace: Goes before the dot; scripts see it as a module.

        Raises:
            ConfigError: A tool is in a namespace already.
        """
        for tool in self._tools.values():
            if tool.spec.namespace:
                raise ConfigError(
                    f"tool {tool.name!r} is in a namespace already", hint="rename it first"
                )
        return self.rename(lambda name: f"{namespace}.{name}")

    def combine(self, *others: Iterable[object]) -> "Toolset":
        """Return these tools and others.

        Args:
            *others: Toolsets, or values that a toolset can be made from.

        Raises:
            ConfigError: Two tools have the same name in some spelling.
        """
        sets = (o if isinstance(o, Toolset) else Toolset(o) for o in others)
        return Toolset([self, *sets])

    def find(self, name: str) -> Tool | None:
        """Return the tool of a name in any of its spellings.

        Args:
            name: Canonical, as scripts write it, or as model APIs know it.
        """
        return self._tools.get(self._spellings.get(name, name))

    def similar(self, name: str) -> tuple[str, ...]:
        """Return the canonical names that a wrong one may have meant, the nearest first.

        Args:
            name: A name that no tool has.
        """
        close = difflib.get_close_matches(name, self._spellings, n=3)
        return tuple(dict.fromkeys(self._spellings[spelling] for spelling in close))

    def __or__(self, other: "Toolset") -> "Toolset":
        """Return these tools and others."""
        return self.combine(other)

    def __getitem__(self, name: str) -> Tool:
        try:
            return self._tools[name]
        except KeyError:
            near = self._near(name)
            text = f"no tool is called {name!r}" + (f"; {near}" if near else "")
            raise KeyError(text) from None

    def __contains__(self, name: object) -> bool:
        return name in self._tools

    @overload
    def get(self, key: str, /) -> Tool | None: ...
    @overload
    def get(self, key: str, /, default: Tool | D) -> Tool | D: ...
    def get(self, key: str, /, default: object = None) -> object:
        """Return the tool of a canonical name, without a look for names that are near.

        Args:
            key: A canonical name.
            default: Returned where no tool has it.
        """
        return self._tools.get(key, default)

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def __repr__(self) -> str:
        return f"Toolset({', '.join(self._tools)})"

    @property
    def runtime(self) -> frozenset[str]:
        """Names of the runtime's own tools among these."""
        return self._runtime

    def _of(self, tools: Iterable[Tool]) -> "Toolset":
        made = Toolset()
        made._runtime = self._runtime
        made._fill(tools)
        return made

    def _fill(self, tools: Iterable[Tool]) -> None:
        claims = _Claims()
        self._tools: dict[str, Tool] = {}
        self._spellings: dict[str, str] = {}
        for tool in sorted(tools, key=lambda tool: (tool.name.rpartition(".")[0], tool.name)):
            if tool.is_unbound:
                raise ConfigError(
                    f"{tool.name!r} is a method without its object",
                    hint="give an object of the class, not the class",
                )
            if tool.name not in self._runtime:
                check_free(tool.name)
            claims.take(tool.spec)
            self._tools[tool.name] = tool
            for spelling in (tool.name, script_name(tool.name), model_name(tool.name)):
                self._spellings[spelling] = tool.name

    def _near(self, name: str) -> str:
        return f"did you mean {close[0]!r}?" if (close := self.similar(name)) else ""


class _Claims:
    """The owners of names; two tools may not share one, in any spelling of case."""

    def __init__(self) -> None:
        self._owners: dict[tuple[str, str], str] = {}

    def take(self, spec: ToolSpec) -> None:
        name, namespace = spec.name, spec.namespace
        self._claim("is called", name, name, shared=False)
        self._claim("in scripts is", script_name(name), name, shared=False)
        self._claim("towards models is", model_name(name), name, shared=False)
        if namespace:
            owner = f"{namespace}.*"
            self._claim("in scripts is", script_name(namespace), owner, shared=True)

    def _claim(self, how: str, spelling: str, owner: str, *, shared: bool) -> None:
        key = (how, spelling.casefold())
        other = self._owners.get(key)
        self._owners[key] = owner
        if other is not None and not (shared and other == owner):
            told = f"{owner!r} {how} {spelling!r}, and so is {other!r}"
            if owner == other:
                told = f"two tools are called {owner!r}"
            elif owner.casefold() == other.casefold():
                told = f"{other!r} and {owner!r} are one name: case makes no difference"
            raise ConfigError(
                told,
                hint="give one of them another name: Toolset.rename, or prefix(namespace)",
            )


@runtime_checkable
class ToolLike(Protocol):
    """Anything that a session takes as a tool, in the namespace of its kind."""

    def as_tool(self) -> Tool:
        """Return the tool."""
        ...


def _runtime_of(item: object) -> frozenset[str]:
    if is_tool_like(item):
        return frozenset({item.as_tool().name})
    return item.runtime if isinstance(item, Toolset) else frozenset()


def is_tool_like(item: object) -> TypeGuard[ToolLike]:
    """Return whether a value gives a tool, such as a microagent does."""
    return not isinstance(item, type) and isinstance(item, ToolLike)


def _tools_of(item: object) -> list[Tool]:
    if isinstance(item, Tool):
        return [cast("Tool", item)]
    if isinstance(item, Toolset):
        return list(item.values())
    if is_tool_like(item):
        return [item.as_tool()]
    if not isinstance(item, type) and (found := _methods(item, missing_ok=True)):
        return found
    if callable(item) and not isinstance(item, type):
        return [Tool.from_function(cast("Callable[..., Any]", item))]
    hint = "give a tool, a function, a Toolset, or an object with @tool methods"
    if isinstance(item, str):
        hint = "a Toolset is given whole, without `*`: [mine, kit.tools()]"
    raise ConfigError(f"{item!r:.80} is no tool", hint=hint)


def _methods(holder: object, *, missing_ok: bool = False) -> list[Tool]:
    """Return the bound tools of an object, in the order in which its class has them.

    Raises:
        ConfigError: There are none, or one is a classmethod, which binds no tool.
    """
    members = {
        name: member
        for owner in reversed(type(holder).__mro__)
        for name, member in vars(owner).items()
    }
    names: list[str] = []
    for name, member in members.items():
        if isinstance(member, classmethod) and isinstance(
            cast("classmethod[Any, ..., Any]", member).__func__, Tool
        ):
            raise ConfigError(
                f"{type(holder).__name__}.{name} is a classmethod, so it cannot be a tool",
                hint="put @tool on a method, a staticmethod or a function",
            )
        if isinstance(member, Tool | staticmethod) and isinstance(getattr(holder, name), Tool):
            names.append(name)
    found = [getattr(holder, name) for name in names]
    if not found and not missing_ok:
        raise ConfigError(f"{type(holder).__name__} has no @tool methods")
    return found
