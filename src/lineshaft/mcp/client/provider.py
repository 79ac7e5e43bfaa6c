"""A server's tools as a provider of tools: connected in the background, and again where it died.

Above: sessions, which take it as `tools.Provider`. Below: one connection at a time
(`client/connection.py`). A server that hangs, dies, floods or lies fails its own calls, with what
happened and what to do.
"""

import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from math import inf
from typing import Unpack

import anyio
import httpx2
import mcp_types as types

from lineshaft.errors import ConfigError, LineshaftError, ToolError
from lineshaft.mcp._spec import (
    Claim,
    ServerOptions,
    ServerSpec,
    checked_namespace,
    name_for,
    spec_of,
)
from lineshaft.mcp._text import clean
from lineshaft.mcp.client.asks import failed_results, refusals
from lineshaft.mcp.client.attempts import Attempts, standing_still
from lineshaft.mcp.client.auth import provider
from lineshaft.mcp.client.background import background
from lineshaft.mcp.client.catalogue import CatalogueBuilder, ServerCatalogue, all_count, nobody_said
from lineshaft.mcp.client.connection import Connection, connected
from lineshaft.mcp.client.failures import (
    during_a_call,
    first_of,
    is_forgotten,
    known_again,
    refusal_of,
    told,
)
from lineshaft.mcp.client.older import forget, is_older, remember
from lineshaft.mcp.client.resources import ServerResources
from lineshaft.mcp.client.results import HandleContent, HandleContents, ResultShape, value_of
from lineshaft.mcp.client.wire import Wire
from lineshaft.tools import Shaped, Tool, Toolset, filtered, opened, renamed
from lineshaft.trace import Redactor, secret_values
from lineshaft.values import Askable, Context

_CLOSE_SECONDS = 6.0
_LIST_SECONDS = 10.0
_SHORTEST_TTL = 1.0
_LONGEST_PAUSE = 60.0
_LOOK_SECONDS = 5.0
"""How often it is looked in the background, where a server neither says how long its list holds nor
tells of changes."""

_SELDOM_SECONDS = 300.0
"""How often it is looked where a server at an address tells of changes in the older protocol: the
SDK gives up what it hears them by after two failures, and says nothing."""

_INSTRUCTIONS = 4_000


class McpServer:
    """A provider of tools: an MCP server.

    Args:
        server: Its address, its command (text is split by shell rules), a `ServerSpec`, or an
            `MCPServer` or lowlevel `Server` of this process.
        name: The namespace of its tools; made of the server where left out.
        **options: See `ServerOptions`.

    Raises:
        ConfigError: The name or the command cannot be used.
    """

    def __init__(
        self,
        server: object,
        *,
        name: str | None = None,
        **options: Unpack[ServerOptions],
    ) -> None:
        self._server = server
        self._spec = spec_of(server)
        if self._spec is None and not (hasattr(server, "run") or hasattr(server, "lifespan")):
            raise ConfigError(
                f"{server!r:.80} is no MCP server",
                hint="give an address, a command, a ServerSpec or a server object",
            )
        for option in options.keys() - ServerOptions.__annotations__.keys():
            hint = f"there are: {', '.join(ServerOptions.__annotations__)}"
            if option in ServerSpec.__struct_fields__:
                hint = f"it is one of how the server is reached: ServerSpec(..., {option}=...)"
            raise ConfigError(f"an MCP server has no option {option!r}", hint=hint)
        self._name = checked_namespace(name or name_for(server, self._spec))
        self._authorize = options.get("authorize")
        limits = self._spec or ServerSpec(url="http://in.process")
        self._connect_seconds = limits.connect_seconds
        known = (*secret_values(limits.env), *secret_values(limits.headers))
        self._secrets = Redactor((*known, *options.get("secrets", ())))
        trusted = bool(options.get("trust"))
        self._builder = CatalogueBuilder(
            self._name,
            self._call,
            claims=all_count if trusted else options.get("claims") or nobody_said,
            seconds=limits.seconds,
            most_bytes=limits.value_bytes,
        )
        self._most_bytes = limits.value_bytes
        self._contents = HandleContents()
        self._catalogue = ServerCatalogue()
        self.beside = ServerResources(
            self._name,
            self._linked,
            believed=lambda: trusted or self._catalogue.believed,
            most_bytes=limits.value_bytes,
            seconds=limits.seconds,
        )
        """What it has beside its tools."""

        self._problem = ""
        self._link: Connection | None = None
        self._version = self._instructions = self._protocol = ""
        self._changed: Callable[[], None] | None = None
        self._attempts = Attempts()
        self._at_once = True
        self._refresh = anyio.Lock()
        self._stale_at = inf
        self._promised = False
        self._not_listed = 0
        """How often in a row its tools could not be listed again."""

        self._askable: set[Askable] = set()
        self._stack = AsyncExitStack()

    @property
    def name(self) -> str:
        """The namespace of its tools."""
        return self._name

    @property
    def tools(self) -> Toolset:
        """Its tools as they were listed last."""
        return self._catalogue.tools

    @property
    def unlisted(self) -> Toolset:
        """What may be called of it and stands in no list."""
        return self.beside.tools

    @property
    def problem(self) -> str:
        """Why it has no tools now, or not all of them; empty where it has."""
        return "; ".join(text for text in (self._problem, self._catalogue.problem) if text)

    @property
    def down(self) -> str:
        """Why it cannot be reached now; empty where it can."""
        return self._problem

    @property
    def missing(self) -> Mapping[str, str]:
        """Why tools are missing, by the canonical names that they would have."""
        return self._catalogue.missing(self._name)

    @property
    def claims(self) -> tuple[Claim, ...]:
        """The claims of the server about the effects of its tools."""
        return self._catalogue.claims

    @property
    def catalogue_hash(self) -> str:
        """What changes whenever anything that it says of its tools does; empty before it did."""
        return self._catalogue.digest

    @property
    def accepted(self) -> bool | None:
        """Whether its claims count; None: not answered."""
        return self._catalogue.accepted

    @property
    def left_out(self) -> Mapping[str, str]:
        """Why tools are missing, by what the server calls them."""
        return self._catalogue.left_out

    @property
    def version(self) -> str:
        """Its own name and version; empty where it did not say."""
        return self._version

    @property
    def protocol(self) -> str:
        """The revision of the protocol that was spoken last."""
        return self._protocol

    @property
    def instructions(self) -> str:
        """The server's instructions for its use."""
        return self._instructions

    def content(self, handle: str) -> HandleContent:
        """Return what a handle in a result stands for.

        Args:
            handle: The `handle` of an image, audio or binary resource.

        Raises:
            LookupError: It is unknown, or was given up for newer ones.
        """
        return self._contents[handle]

    def put_off(self) -> None:
        """Connect, once opened, only after `begin`, or when it is needed."""
        self._at_once = False

    def begin(self) -> None:
        """Connect now, where that was put off."""
        self._at_once = True
        self._attempts.begin()

    def may_ask(self, kinds: Collection[Askable]) -> None:
        """Add kinds of question that callers answer.

        In the older protocol a server is told once, when it is connected; in the newest with each
        call, what the caller of that offers.

        Args:
            kinds: Of a session, or of the clients of a front.
        """
        self._askable |= set(kinds)

    def filter(self, keep: Callable[[Tool], bool]) -> Shaped:
        """Return a provider that offers only some of the tools.

        Args:
            keep: Whether a tool stays.
        """
        return filtered(self, keep)

    def rename(self, names: Mapping[str, str] | Callable[[str], str]) -> Shaped:
        """Return a provider whose tools have other names, in the same namespace.

        Args:
            names: New name by old, others keep theirs; or a function from old to new.
        """
        return renamed(self, names)

    async def __aenter__(self) -> Toolset:
        """Connect, and return the tools as they are, for use without a session.

        Raises:
            ConfigError: It has none, and says why.
        """
        async with AsyncExitStack() as stack:
            tools = await stack.enter_async_context(opened(self))
            if not tools and self.problem:
                raise ConfigError(f"the MCP server {self._name!r} has no tools: {self.problem}")
            self._stack = stack.pop_all()
        return tools

    async def __aexit__(self, *_error: object) -> None:
        await self._stack.aclose()

    @asynccontextmanager
    async def opened(self, changed: Callable[[], None]) -> AsyncGenerator[None]:
        """Connect in the background as long as the block lasts; entered at once.

        Args:
            changed: Called whenever `tools` or `problem` are others than before.

        Raises:
            ConfigError: It is open already.
        """
        if self._changed is not None:
            raise ConfigError(f"the MCP server {self._name!r} is open in another session already")
        self._changed, self._attempts = changed, Attempts(at_once=self._at_once)
        try:
            async with background() as tasks:
                tasks.start_soon(self._keep)
                try:
                    yield
                finally:
                    self._attempts.close()
                    with anyio.move_on_after(_CLOSE_SECONDS, shield=True):
                        await self._attempts.ended.wait()
        finally:
            self._changed = self._link = None

    async def ready(self) -> None:
        """Wait for the catalogue, or for the reason why there is none; raises neither."""
        if self._changed is None:
            return
        await self._attempts.tried(again=self._link is None)
        link = self._link
        if link is not None and time.monotonic() >= self._stale_at:
            if self._promised and not self._not_listed:
                await self._list_again(link, only_stale=True)
            else:  # in the background; what was listed last is used meanwhile
                link.changed.set()

    async def _keep(self) -> None:
        """Connect, whenever it is wanted, until the provider is closed."""
        attempts = self._attempts
        try:
            while await attempts.wanted():
                settled = attempts.settled
                problem = await self._once(attempts)
                self._link = None
                if not attempts.closing.is_set():
                    attempts.failed(connected=settled.is_set())
                    self._tell(problem)
                settled.set()
        finally:
            attempts.ended.set()

    async def _once(self, attempts: Attempts) -> str:
        """Hold one connection until it ends; return why it did.

        A program that ends at the first question of the newest protocol is started anew without.
        """
        spec, wire, settled = self._spec, Wire(), attempts.settled
        problem = await self._hold(attempts, wire)
        if spec is not None and not settled.is_set():
            in_time = attempts.scope is not None and not attempts.scope.cancel_called
            if spec.command and wire.is_probe_open and in_time:
                remember(spec)
                problem = await self._hold(attempts, Wire())
            if not settled.is_set():
                forget(spec)
        return problem

    async def _hold(self, attempts: Attempts, wire: Wire) -> str:
        """Hold one connection over a wire until it ends; return why it did."""
        attempts.scope = scope = anyio.CancelScope(
            deadline=anyio.current_time() + self._connect_seconds
        )
        text = ""
        auth = self._auth(scope)
        try:
            with scope:
                async with connected(
                    self._server,
                    self._spec,
                    auth=auth,
                    wire=wire,
                    kinds=self._askable,
                    mode="legacy" if is_older(self._spec) else "auto",
                ) as link:
                    if self._spec is not None and wire.is_probe_open:
                        remember(self._spec)
                    await self._list(link)
                    self._link, scope.deadline = link, inf
                    self.beside.connected(link)
                    self._tell("")
                    attempts.settled.set()
                    await self._watch(link, attempts)
        except Exception as error:  # noqa: BLE001  whatever a server does wrong, the SDK raises
            text = told(first_of(error), self._secrets)
        if scope.cancelled_caught and not text and self._link is None:
            text = f"it has not listed its tools after {self._connect_seconds:g} s"
        if wire.forgotten:
            attempts.worked()  # it answers, so that there is no pause
        found = [each for each in (text, wire.end(self._secrets)) if each]
        return "; ".join(found) or "it ended the connection"

    async def _watch(self, link: Connection, attempts: Attempts) -> None:
        """Follow what the server says of its tools, until it or the provider ends."""
        async with background() as tasks:
            tasks.start_soon(self._follow, link)
            await attempts.closing_or(link.wire.gone)

    async def _follow(self, link: Connection) -> None:
        while True:
            await link.changed.wait()
            link.changed = anyio.Event()
            await self._list_again(link)
            await anyio.sleep(
                _SHORTEST_TTL
            )  # a server that keeps saying so is not asked more often

    async def _list_again(self, link: Connection, *, only_stale: bool = False) -> None:
        async with self._refresh:
            if only_stale and (self._not_listed or time.monotonic() < self._stale_at):
                return  # the holder of the lock has tried just now
            try:
                with anyio.fail_after(_LIST_SECONDS):
                    await self._list(link)
            except Exception as error:  # noqa: BLE001  as above
                if is_forgotten(error, link.wire):
                    return  # they are listed once there is another session
                pause = min(_SHORTEST_TTL * 2**self._not_listed, _LONGEST_PAUSE)
                self._stale_at = time.monotonic() + pause
                self._not_listed = min(self._not_listed + 1, 10)
                why = told(first_of(error), self._secrets)
                self._tell(f"its tools could not be listed again: {why}")
            else:
                self._tell("")

    async def _list(self, link: Connection) -> None:
        listing = await link.list()
        # In a thread: hundreds of schemas take a while to look through. It is left where time is
        # up or the session ends, and ends by itself before the next schema.
        left = threading.Event()
        make = partial(self._builder.build, listing.tools, listing.left_out, unwanted=left.is_set)
        try:
            self._catalogue = await anyio.to_thread.run_sync(make, abandon_on_cancel=True)
        finally:
            left.set()
        self._promised, self._not_listed = listing.ttl_seconds > 0, 0
        ttl = max(listing.ttl_seconds, _SHORTEST_TTL)
        if not self._promised:
            ttl = inf if link.tells_changes or not link.is_modern else _LOOK_SECONDS
            if link.tells_changes and not link.is_modern and link.wire.process is None:
                ttl = _SELDOM_SECONDS
        self._stale_at = time.monotonic() + ttl
        self._version, self._protocol = clean(link.version, 200), link.protocol
        self._instructions = clean(link.instructions, _INSTRUCTIONS)

    def _tell(self, problem: str) -> None:
        self._problem = clean(self._secrets.text(problem), 2_000)
        if self._changed is not None:
            self._changed()

    def _auth(self, scope: anyio.CancelScope) -> httpx2.Auth | None:
        spec = self._spec
        if (
            spec is None
            or not spec.url
            or any(key.lower() == "authorization" for key in spec.headers)
        ):
            return None
        return provider(spec, self._authorize, waiting=lambda: standing_still(scope))

    async def _call(
        self,
        tool: types.Tool,
        shape: ResultShape,
        context: Context,
        arguments: Mapping[str, object],
    ) -> object:
        async def ask(link: Connection) -> types.CallToolResult:
            with link.asks.under_way(context) as call:
                try:
                    return await link.call(tool.name, arguments, call)
                except LineshaftError:
                    raise
                except anyio.get_cancelled_exc_class():
                    link.doubt()
                    raise
                except Exception as error:
                    heard, refusal = refusals.get(), refusal_of(error)
                    if heard is not None and refusal is not None:
                        heard.append(refusal)
                    raise await during_a_call(
                        error,
                        server=self._name,
                        wire=link.wire,
                        most_bytes=self._most_bytes,
                        secrets=context.secrets,
                    ) from error

        result = await known_again(self._linked, ask)
        self._attempts.worked()
        if result.is_error and (failed := failed_results.get()) is not None:
            failed.append(result)
        return value_of(result, shape, self._contents, context.secrets, context.log)

    async def _linked(self) -> Connection:
        """Return the connection; where it died, another one.

        Raises:
            ToolError: There is none now.
        """
        if self._changed is not None and (self._link is None or self._link.wire.gone.is_set()):
            await self._attempts.tried(again=True)
        if self._changed is None or self._link is None:
            wait = self._attempts.pause
            raise ToolError(
                "E_TOOL_FAILED",
                f"the MCP server {self._name!r} is not there: {self._problem or 'it is closed'}",
                hint=f"it is tried again in {wait:.0f} s"
                if wait > 0
                else "call again to try again",
            )
        return self._link
