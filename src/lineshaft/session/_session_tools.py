"""The tools of a session as they are at each moment: given once, or coming from providers."""

import logging
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import cast

import anyio
from anyio.abc import TaskStatus

from lineshaft.errors import ConfigError
from lineshaft.tools import (
    Provider,
    ShapeBook,
    Tool,
    Toolset,
    combined,
    down,
    let_ask,
    missing,
    model_name,
    script_name,
    unlisted,
)
from lineshaft.values import Caller, Finding, ToolSpec

_LOG = logging.getLogger(__name__)
_WORD = re.compile(r"\w+")
PATIENCE_SECONDS = 5.0
"""How long a script waits for providers that it does not name, and may find tools of."""

_FINDERS = frozenset({"tools", "search_tools", "describe_tool"})
"""Names through which a script may reach any tool."""


class SessionTools(Mapping[str, Tool]):
    """A session's tools by canonical name, the runtime's own among them.

    Args:
        given: Tools that stay as they are.
        providers: Providers of further tools.
        runtime: The runtime's own tools.
        jailed: Whether tools that say so count as jailed.
        jail_works: Says whether a jail works for programs in views of their own; asked where a tool
            runs such.
        shapes: The shapes of results.

    Raises:
        ConfigError: Two providers have the same name, or tools stand under it already.
    """

    def __init__(
        self,
        given: Toolset,
        providers: Sequence[Provider],
        runtime: Toolset,
        *,
        jailed: bool,
        jail_works: Callable[[], bool],
        shapes: ShapeBook,
    ) -> None:
        self._given = given
        self._providers = {provider.name: provider for provider in providers}
        self._runtime = runtime
        self._jailed = jailed
        self._jail_works = jail_works
        self._shapes = shapes
        self._watching: dict[object, Callable[[], None]] = {}
        _refuse_shared(given, providers)
        self.renew()

    def renew(self) -> None:
        """Take the tools of all providers as they are now."""
        self._left_out: dict[str, dict[str, str]] = {}
        found = self._given
        for provider in self._providers.values():
            found, self._left_out[provider.name] = combined(found, provider)
        self._specs = found.specs
        tools = {**found, **self._runtime}
        if not self._jailed:
            tools = {name: tool.without_jail() for name, tool in tools.items()}
        elif any(tool.is_viewed for tool in tools.values()) and not self._jail_works():
            tools = {
                name: tool.without_jail(only_viewed=True) if tool.is_viewed else tool
                for name, tool in tools.items()
            }
        self._tools: Mapping[str, Tool] = tools
        self._scriptable = tuple(t.spec for t in tools.values() if t.spec.scriptable)
        for changed in tuple(self._watching.values()):
            try:
                changed()
            except Exception:  # noqa: BLE001  of a caller's function: the others are told all the same
                _LOG.exception("a function that watches the tools failed")

    def watch(self, changed: Callable[[], None]) -> Callable[[], None]:
        """Call a function after each change; return a function that ends this."""
        key = object()
        self._watching[key] = changed
        return lambda: self._watching.pop(key, None) and None

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """The specs of the tools; the runtime's own are left out."""
        return self._shapes.told(self._specs)

    @property
    def scriptable(self) -> tuple[ToolSpec, ...]:
        """The tools that scripts know; the same tuple as long as they do not change."""
        return self._scriptable

    @property
    def providers(self) -> tuple[Provider, ...]:
        """The providers of tools."""
        return tuple(self._providers.values())

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Open all providers as long as the block lasts; they are closed together at its end.

        Raises:
            ConfigError: One of them cannot be opened.
        """
        closing, group = anyio.Event(), anyio.create_task_group()
        await group.__aenter__()
        try:
            for provider in self._providers.values():
                await group.start(self._hold, provider, closing)
            yield
        finally:
            closing.set()
            # The task group does not see the error, which it would wrap: it goes on unchanged.
            await group.__aexit__(None, None, None)

    async def _hold(
        self, provider: Provider, closing: anyio.Event, *, task_status: TaskStatus[None]
    ) -> None:
        async with provider.opened(self.renew):
            task_status.started()
            await closing.wait()

    async def ready(self, words: str) -> tuple[Finding, ...]:
        """Wait for the providers that a text speaks of, and say what of them is not there."""
        await self._shapes.learn()
        if not self._providers:
            return ()
        named = {name: s for name, s in self._providers.items() if _names(name, words)}
        reached = not words or not _FINDERS.isdisjoint(_WORD.findall(words))
        others = [s for n, s in self._providers.items() if n not in named] if reached else []
        async with anyio.create_task_group() as group:
            for provider in named.values():
                group.start_soon(provider.ready)
            with anyio.move_on_after(PATIENCE_SECONDS):
                for provider in others:
                    await provider.ready()
        return tuple(
            Finding(code="provider", message=problem, level="warning")
            for provider in (*named.values(), *others)
            for problem in self._problems(provider, words)
        )

    def why_missing(self, name: str) -> str:
        """Return why its provider lacks a tool; empty where the provider has no problem with it."""
        provider = self._providers.get(name.partition(".")[0])
        return "; ".join(self._problems(provider, name)) if provider is not None else ""

    def _problems(self, provider: Provider, words: str) -> list[str]:
        """Return what a provider lacks, each beginning with the name of what is lacking.

        Args:
            provider: The provider.
            words: A text: where the provider has tools, only those that are left out and named in
                it are told of. All where it is empty.
        """
        clashes, name = self._left_out[provider.name], provider.name
        if words and provider.tools:
            left_out = {**missing(provider), **clashes}
            told = [f"{name}: {why}"] if (why := down(provider)) else []
            told += [
                f"{script_name(tool)}: left out: {why}"
                for tool, why in left_out.items()
                if _speaks_of(tool, words)
            ]
            return list(dict.fromkeys(told))
        clash = f"left out, as other tools have their names: {', '.join(clashes)}"
        problem = "; ".join(filter(None, (provider.problem, clash if clashes else "")))
        return [f"{name}: {problem}"] if problem else []

    def __getitem__(self, name: str) -> Tool:
        if (found := self._tools.get(name)) is not None:
            return found
        return unlisted(self._providers[name.partition(".")[0]])[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)


def _names(provider: str, words: str) -> bool:
    return provider in words or script_name(provider) in words


def _speaks_of(tool: str, words: str) -> bool:
    """Return whether a text has the name of a tool in any spelling, or imports its namespace."""
    spelt = script_name(tool)
    namespace, _, own = spelt.rpartition(".")
    return any(
        spelling in words and re.search(rf"(?<!\w){re.escape(spelling)}(?![\w-])", words)
        for spelling in (tool, spelt, model_name(tool))
    ) or (
        bool(namespace)
        and own in _WORD.findall(words)
        and re.search(rf"\b(?:from|import)\s+{re.escape(namespace)}\b", words) is not None
    )


def _refuse_shared(given: Toolset, providers: Sequence[Provider]) -> None:
    taken = {script_name(tool.spec.namespace or name): name for name, tool in given.items()}
    for provider in providers:
        other = taken.get(script_name(provider.name))
        taken[script_name(provider.name)] = provider.name
        if other is not None:
            raise ConfigError(
                f"a provider has the name {provider.name!r}, and so has {other!r}",
                hint="give the provider another one: lineshaft.mcp.server(..., name=...)",
            )


def split(tools: object, caller: Caller) -> tuple[Toolset, tuple[Provider, ...]]:
    """Return the tools that a session was given, providers apart.

    Args:
        tools: Of a session.
        caller: Who is behind its runs; providers are told what may be asked of them.

    Raises:
        ConfigError: An item is no tool.
    """
    if isinstance(tools, Toolset):
        return tools, ()
    items = [tools] if isinstance(tools, Provider) else list(cast("Iterable[object]", tools))
    providers = tuple(item for item in items if isinstance(item, Provider))
    let_ask(providers, caller.offers)
    return Toolset(item for item in items if not isinstance(item, Provider)), providers
