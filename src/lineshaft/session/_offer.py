"""The tools of a session as they are at each moment: given once, or coming from sources."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import cast

import anyio

from lineshaft.errors import ConfigError
from lineshaft.tools import ShapeBook, Source, Tool, Toolset, script_name
from lineshaft.values import Finding, ToolSpec

_WORD = re.compile(r"\w+")
PATIENCE_SECONDS = 5.0
"""How long a script waits for sources that it does not name, and may find tools of."""

_FINDERS = frozenset({"tools", "search_tools", "describe_tool"})
"""What a script may reach any tool by."""


class Offer(Mapping[str, Tool]):
    """A session's tools by canonical name, the runtime's own among them.

    Args:
        given: Tools that stay as they are.
        sources: Where further tools come from.
        runtime: The runtime's own tools.
        jailed: Whether tools that say so count as jailed.
        shapes: What is known of results.

    Raises:
        ConfigError: Two sources have the same name, or tools stand under it already.
    """

    def __init__(
        self,
        given: Toolset,
        sources: Sequence[Source],
        runtime: Toolset,
        *,
        jailed: bool,
        shapes: ShapeBook,
    ) -> None:
        self._given = given
        self._sources = {source.name: source for source in sources}
        self._runtime = runtime
        self._jailed = jailed
        self._shapes = shapes
        self._watching: dict[object, Callable[[], None]] = {}
        _refuse_shared(given, sources)
        self.renew()

    def renew(self) -> None:
        """Take the tools of all sources as they are now."""
        self._left_out: dict[str, list[str]] = {}
        found = self._given
        for source in self._sources.values():
            found = self._with(found, source)
        self._specs = found.specs
        tools = {**found, **self._runtime}
        if not self._jailed:
            tools = {name: tool.without_jail() for name, tool in tools.items()}
        self._tools: Mapping[str, Tool] = tools
        self._scriptable = tuple(t.spec for t in tools.values() if t.spec.scriptable)
        for changed in tuple(self._watching.values()):
            changed()

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Have a function called after each change; what is returned ends this."""
        key = object()
        self._watching[key] = changed
        return lambda: self._watching.pop(key, None) and None

    def _with(self, found: Toolset, source: Source) -> Toolset:
        """Return tools and those of a source; where names clash, those stay that came first."""
        try:
            return found | source.tools
        except ConfigError:
            for tool in source.tools.values():
                try:
                    found = found.combine([tool])
                except ConfigError:
                    self._left_out.setdefault(source.name, []).append(tool.name)
            return found

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What may be known of the tools; the runtime's own are left out."""
        return self._shapes.told(self._specs)

    @property
    def scriptable(self) -> tuple[ToolSpec, ...]:
        """What scripts are told of; the same tuple as long as nothing changed."""
        return self._scriptable

    @property
    def sources(self) -> tuple[Source, ...]:
        """Where tools come from."""
        return tuple(self._sources.values())

    async def ready(self, words: str) -> tuple[Finding, ...]:
        """Wait for the sources that a text speaks of, and say what of them is not there."""
        await self._shapes.learn()
        if not self._sources:
            return ()
        named = {name: s for name, s in self._sources.items() if _names(name, words)}
        reached = not words or not _FINDERS.isdisjoint(_WORD.findall(words))
        others = [s for n, s in self._sources.items() if n not in named] if reached else []
        async with anyio.create_task_group() as group:
            for source in named.values():
                group.start_soon(source.ready)
            with anyio.move_on_after(PATIENCE_SECONDS):
                for source in others:
                    await source.ready()
        return tuple(
            Finding(code="source", message=f"{source.name}: {problem}", level="warning")
            for source in (*named.values(), *others)
            if (problem := self._problem(source))
        )

    def _problem(self, source: Source) -> str:
        names = self._left_out.get(source.name, [])
        clash = f"left out, as other tools have their names: {', '.join(names)}" if names else ""
        return "; ".join(filter(None, (source.problem, clash)))

    def __getitem__(self, name: str) -> Tool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def _names(source: str, words: str) -> bool:
    return source in words or script_name(source) in words


def _refuse_shared(given: Toolset, sources: Sequence[Source]) -> None:
    taken = {script_name(tool.spec.namespace or name): name for name, tool in given.items()}
    for source in sources:
        other = taken.get(script_name(source.name))
        taken[script_name(source.name)] = source.name
        if other is not None:
            raise ConfigError(
                f"a source has the name {source.name!r}, and so has {other!r}",
                hint="give the source another one: Toolset.from_mcp(..., name=...)",
            )


def split(tools: object) -> tuple[Toolset, tuple[Source, ...]]:
    """Return what a session was given as tools, sources apart.

    Raises:
        ConfigError: Something in it is no tool.
    """
    if isinstance(tools, Toolset):
        return tools, ()
    items = [tools] if isinstance(tools, Source) else list(cast("Iterable[object]", tools))
    sources = tuple(item for item in items if isinstance(item, Source))
    return Toolset(item for item in items if not isinstance(item, Source)), sources
