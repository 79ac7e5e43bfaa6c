"""Tools that come from elsewhere, and may come and go while a session is open."""

from collections.abc import AsyncGenerator, Callable, Collection, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Protocol, runtime_checkable

from lineshaft.errors import ConfigError
from lineshaft.tools._tool import Tool
from lineshaft.tools._toolset import Rename, Toolset
from lineshaft.values import Askable


@runtime_checkable
class Provider(Protocol):
    """One place that tools come from, such as an MCP server."""

    @property
    def name(self) -> str:
        """The namespace of its tools; no two providers of a session have the same."""
        ...

    @property
    def tools(self) -> Toolset:
        """Its tools as they are now; none until the first catalogue is there."""
        ...

    @property
    def problem(self) -> str:
        """The reason why it lacks tools now; empty where it has all."""
        ...

    def opened(self, changed: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        """Connect in the background as long as the block lasts; entered at once.

        Args:
            changed: Called whenever `tools` or `problem` are others than before.
        """
        ...

    async def ready(self) -> None:
        """Wait for the first catalogue or the first failure; raises neither."""
        ...


@runtime_checkable
class Asking(Protocol):
    """A provider that has to know, before it connects, what its tools may ask callers for."""

    def may_ask(self, kinds: Collection[Askable]) -> None:
        """Add kinds of question that callers may answer."""
        ...


@runtime_checkable
class Unlisted(Protocol):
    """A provider with further tools that may be called, and are in no list."""

    @property
    def unlisted(self) -> Toolset:
        """As it is now."""
        ...


@runtime_checkable
class Lacking(Protocol):
    """A provider that says apart why it is down and which of its tools are left out."""

    @property
    def down(self) -> str:
        """The reason why it cannot be reached now; empty where it can."""
        ...

    @property
    def missing(self) -> Mapping[str, str]:
        """The reasons why tools are left out, by the canonical names that they would have."""
        ...


class HeldContent(Protocol):
    """The content that a handle in a result stands for."""

    @property
    def kind(self) -> str:
        """`image`, `audio` or `resource`."""
        ...

    @property
    def mime_type(self) -> str:
        """As its source says it."""
        ...

    @property
    def data(self) -> bytes:
        """All of it."""
        ...


@runtime_checkable
class Holding(Protocol):
    """A provider whose results have handles in the place of large contents."""

    def content(self, handle: str) -> HeldContent:
        """Return what a handle stands for.

        Raises:
            LookupError: It is unknown, or was given up for newer ones.
        """
        ...


class Shaped:
    """A provider whose tools are looked at through a function.

    Args:
        provider: Their provider.
        shape: Makes of its tools those that are offered; the namespace stays.
    """

    def __init__(self, provider: Provider, shape: Callable[[Toolset], Toolset]) -> None:
        self._source = provider
        self._shape = shape
        self._of: Toolset | None = None
        self._shaped = Toolset()

    @property
    def provider(self) -> Provider:
        """The provider that is looked at."""
        return self._source

    @property
    def name(self) -> str:
        """The namespace of its tools."""
        return self._source.name

    @property
    def tools(self) -> Toolset:
        """Its tools as they are now."""
        tools = self._source.tools
        if tools is not self._of:
            self._of, self._shaped = tools, self._shape(tools)
        return self._shaped

    @property
    def unlisted(self) -> Toolset:
        """The unlisted tools, unchanged."""
        return unlisted(self._source)

    @property
    def down(self) -> str:
        """Why it cannot be reached now."""
        return down(self._source)

    @property
    def missing(self) -> Mapping[str, str]:
        """Why tools are left out by their source, by canonical name."""
        return missing(self._source)

    def content(self, handle: str) -> HeldContent:
        """Return what a handle stands for."""
        return content_of([self._source], handle)

    @property
    def problem(self) -> str:
        """Why it has no tools now, or not all of them."""
        return self._source.problem

    def opened(self, changed: Callable[[], None]) -> AbstractAsyncContextManager[None]:
        """Connect in the background as long as the block lasts."""
        return self._source.opened(changed)

    def may_ask(self, kinds: Collection[Askable]) -> None:
        """Set the kinds of question that callers may answer."""
        let_ask([self._source], kinds)

    async def ready(self) -> None:
        """Wait for the first catalogue or the first failure."""
        await self._source.ready()

    def filter(self, keep: Callable[[Tool], bool]) -> "Shaped":
        """Return a provider that offers only the tools that a function keeps."""
        return filtered(self, keep)

    def rename(self, names: Rename) -> "Shaped":
        """Return a provider whose tools have other names; names that it lacks are passed over."""
        return renamed(self, names)


def unlisted(provider: Provider) -> Toolset:
    """Return the unlisted tools of a provider."""
    return provider.unlisted if isinstance(provider, Unlisted) else Toolset()


def down(provider: Provider) -> str:
    """Return why a provider cannot be reached now; its whole problem where it does not say."""
    return provider.down if isinstance(provider, Lacking) else provider.problem


def missing(provider: Provider) -> Mapping[str, str]:
    """Return why tools are left out by their provider, by canonical name."""
    return provider.missing if isinstance(provider, Lacking) else {}


def combined(found: Toolset, provider: Provider) -> tuple[Toolset, dict[str, str]]:
    """Return tools and those of a provider, and why some are left out, by their names.

    Where names clash, those stay that came first.
    """
    try:
        return found | provider.tools, {}
    except ConfigError:
        left_out: dict[str, str] = {}
        for tool in provider.tools.values():
            try:
                found = found.combine([tool])
            except ConfigError as error:
                left_out[tool.name] = error.message
        return found, left_out


def content_of(providers: Iterable[Provider], handle: str) -> HeldContent:
    """Return what a handle in a result of some providers stands for.

    Raises:
        LookupError: It is unknown, or was given up for newer ones.
    """
    for provider in providers:
        if isinstance(provider, Holding):
            with suppress(LookupError):
                return provider.content(handle)
    raise LookupError(handle)


def filtered(provider: Provider, keep: Callable[[Tool], bool]) -> Shaped:
    """Return a provider that offers only the tools that a function keeps."""
    return Shaped(provider, lambda tools: tools.filter(keep))


def renamed(provider: Provider, names: Rename) -> Shaped:
    """Return a provider whose tools have other names; names that it lacks are passed over."""

    def shape(tools: Toolset) -> Toolset:
        if callable(names):
            return tools.rename(names)
        return tools.rename({old: new for old, new in names.items() if old in tools})

    return Shaped(provider, shape)


def let_ask(providers: Iterable[Provider], kinds: Collection[Askable]) -> None:
    """Tell providers, before they connect, the kinds of question that callers answer."""
    for provider in providers:
        if isinstance(provider, Asking):
            provider.may_ask(kinds)


@asynccontextmanager
async def opened(provider: Provider) -> AsyncGenerator[Toolset]:
    """Connect to a provider, and give its tools as they are when it is ready."""
    async with provider.opened(lambda: None):
        await provider.ready()
        yield provider.tools
