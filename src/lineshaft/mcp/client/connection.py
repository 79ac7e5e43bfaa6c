"""One connection to a server, over the SDK's client.

Above: `client/provider.py`, which opens and replaces connections. Below: the wires, and the SDK.
"""

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from typing import Any, Literal, TypeVar, cast

import anyio
import httpx2
import mcp_types as types
from anyio.abc import TaskGroup
from mcp import Client, MCPError
from mcp.client import IncomingMessage
from mcp.client.subscriptions import PromptsListChanged, ResourcesListChanged
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter

from lineshaft import __version__
from lineshaft.errors import ToolError
from lineshaft.mcp._spec import ServerSpec
from lineshaft.mcp.client.asks import OpenCall, OpenCalls, declared
from lineshaft.mcp.client.background import background
from lineshaft.mcp.client.http import http
from lineshaft.mcp.client.listing import MOST_TOOLS, Listing, Pages
from lineshaft.mcp.client.stdio import stdio
from lineshaft.mcp.client.wire import Wire, as_transport, watched
from lineshaft.values import Askable

KEY = "lineshaft/idempotencyKey"
"""Where in `_meta` the key of a call stands: the same for the same call of a resumed run."""

_MOST_PAGES = 200
_MOST_ROUNDS = 10
_LONGEST_PAUSE = 60.0
_PATIENCE = 60.0
"""Seconds that a program has for the answer to whether it is there, after a call was given up."""

_SHORT = 5.0
_NEVER_TELLS = frozenset({types.METHOD_NOT_FOUND, types.UNSUPPORTED_PROTOCOL_VERSION})
"""The codes of a server that refuses for good to tell of changes; others pass with an outage."""


class _Meta(dict[str, Any]):
    """What stands in `_meta` of a call: the SDK would declare the same for all of a connection."""

    def __setitem__(self, key: str, value: object) -> None:
        if key != types.CLIENT_CAPABILITIES_META_KEY:
            super().__setitem__(key, value)


class _Declaring:
    """A request that tells the server what its own caller may be asked for.

    Args:
        request: Has that in its `_meta`.
    """

    name_param = None

    def __init__(self, request: types.ClientRequest) -> None:
        self._request = request

    def model_dump(self, **options: Any) -> dict[str, Any]:  # noqa: ANN401  as in pydantic
        """Return it as the SDK sends it."""
        data = self._request.model_dump(**options)
        data["params"]["_meta"] = _Meta(data["params"]["_meta"])
        return data


_RESULT: TypeAdapter[types.CallToolResult | types.InputRequiredResult] = TypeAdapter(
    types.CallToolResult | types.InputRequiredResult
)

Result = TypeVar("Result", bound=BaseModel)
Send = Callable[
    [types.InputResponses | None, str | None, dict[str, Any]],
    Awaitable[Result | types.InputRequiredResult],
]

# What servers do wrong stands in `problem` and in errors, and not on standard error. Part of the
# SDK's client calls its logger `client`.
for _name in ("mcp", "client"):
    logging.getLogger(_name).addHandler(logging.NullHandler())


Listed = Literal["resources", "prompts"]
"""What a server lists beside its tools."""


@asynccontextmanager
async def connected(
    server: object,
    spec: ServerSpec | None,
    *,
    auth: httpx2.Auth | None,
    wire: Wire,
    kinds: Collection[Askable],
    mode: Literal["auto", "legacy"],
) -> AsyncGenerator["Connection"]:
    """Connect to a server as long as the block lasts.

    Args:
        server: The server itself, where `spec` is None.
        spec: How it is reached.
        auth: For servers at an address.
        wire: Told what happens below the protocol.
        kinds: What callers may offer, beside forms.
        mode: Whether the newest protocol is tried first, or the older one is spoken at once.
    """
    asks, changed = OpenCalls(), anyio.Event()

    async def heard(message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            link.changed.set()
        elif isinstance(message, types.ResourceUpdatedNotification):
            link.updated(message.params.uri)
        elif isinstance(message, types.ResourceListChangedNotification):
            link.listed("resources")
        elif isinstance(message, types.PromptListChangedNotification):
            link.listed("prompts")

    client = Client(
        cast("Any", server) if spec is None else as_transport(_transport(spec, auth, wire)),
        mode=mode,
        cache=None,
        client_info=types.Implementation(name="lineshaft", version=__version__),
        elicitation_callback=asks.elicit,
        sampling_callback=asks.sample if "sample" in kinds else None,
        list_roots_callback=asks.roots if "roots" in kinds else None,
        logging_callback=asks.log,
        log_level="info",
        message_handler=heard,
    )
    link = Connection(client, wire, asks, changed)
    async with client, background() as tasks:
        await link.begin(tasks)
        try:
            yield link
        finally:
            link.tasks = None  # a call that is given up from now on begins nothing more


def _transport(
    spec: ServerSpec, auth: httpx2.Auth | None, wire: Wire
) -> AbstractAsyncContextManager[Any]:
    return watched(http(spec, auth, wire) if spec.url else stdio(spec, wire), wire)


class Connection:
    """A connection that has been made.

    Args:
        client: The SDK's.
        wire: What is known below the protocol.
        asks: The calls under way.
        changed: Set once the server's tools may be others than were listed.
    """

    def __init__(self, client: Client, wire: Wire, asks: OpenCalls, changed: anyio.Event) -> None:
        self.wire = wire
        self.asks = asks
        self.changed = changed
        self.client = client
        self.tasks: TaskGroup | None = None
        """What goes on as long as the connection does; None once it ends."""

        self._doubted = False

        self.updated: Callable[[str], None] = lambda _uri: None
        """Told of each resource that the server says has changed."""

        self.listed: Callable[[Listed], None] = lambda _kind: None
        """Told whenever the server says that it lists other resources or prompts."""

    @property
    def is_modern(self) -> bool:
        """Whether it speaks the protocol without a handshake."""
        return self.client.protocol_version in MODERN_PROTOCOL_VERSIONS

    @property
    def tells_changes(self) -> bool:
        """Whether the server says when its tools are others than before."""
        tools = self.client.server_capabilities.tools
        return tools is not None and tools.list_changed is True

    @property
    def tells_any_changes(self) -> bool:
        """Whether the server says when its tools, resources or prompts are others than before."""
        can = self.client.server_capabilities
        lists = (can.tools, can.resources, can.prompts)
        return any(each is not None and each.list_changed for each in lists)

    @property
    def version(self) -> str:
        """Name and version of the server, as it says."""
        info = self.client.server_info
        return "" if info is None else f"{info.name} {info.version}"

    @property
    def protocol(self) -> str:
        """The revision that is spoken."""
        return self.client.protocol_version

    @property
    def instructions(self) -> str:
        """The server's instructions for its use."""
        return self.client.instructions or ""

    async def begin(self, tasks: TaskGroup) -> None:
        """Ask to be told of changes and of what the server logs."""
        self.tasks = tasks
        capabilities = self.client.server_capabilities
        if self.is_modern and self.tells_any_changes:
            tasks.start_soon(self._listen)
        if not self.is_modern and capabilities.logging is not None:
            # `Client.set_logging_level` warns of what only servers of the older protocol know.
            params = types.SetLevelRequestParams(level="info")
            with suppress(MCPError), anyio.move_on_after(_SHORT):
                request = types.SetLevelRequest(params=params)
                await self.client.session.send_request(request, types.EmptyResult)

    async def list(self) -> Listing:
        """Return what the server offers now.

        Raises:
            MCPError: It would not say.
        """
        if self.client.server_capabilities.tools is None:
            return Listing(left_out={})
        self.wire.seen.clear()
        self.wire.left_out.clear()
        pages = Pages()
        cursor, cursors, ttl = None, set[str](), 0.0
        for _ in range(_MOST_PAGES):
            page = await self.client.list_tools(cursor=cursor)
            more = pages.take(page.tools)
            ttl, cursor = page.ttl_ms / 1000, page.next_cursor
            more = more and len(self.wire.left_out) <= MOST_TOOLS
            if not cursor or cursor in cursors or not more:  # some end a list with an empty one
                break
            cursors.add(cursor)
        else:
            pages.left_out["(more)"] = f"its list has more than {_MOST_PAGES} pages"
        dropped = {name[:200] for name in self.wire.seen - pages.names}
        reasons = dict.fromkeys(sorted(dropped), "its x-mcp-header annotations are invalid")
        left_out = {**self.wire.left_out, **reasons, **pages.left_out}
        self.wire.seen.clear()
        return Listing(tools=tuple(pages.tools), left_out=left_out, ttl_seconds=ttl)

    async def call(
        self, name: str, arguments: Mapping[str, object], call: OpenCall
    ) -> types.CallToolResult:
        """Make a call, and answer what the server asks meanwhile.

        Args:
            name: What the server calls the tool.
            arguments: Of the call.
            call: The call as it is under way.

        Raises:
            MCPError: The server refused it, or is gone.
            ToolError: It asks for what it does not get.
        """

        async def send(
            given: types.InputResponses | None, state: str | None, meta: dict[str, Any]
        ) -> types.CallToolResult | types.InputRequiredResult:
            params = types.CallToolRequestParams(
                name=name, arguments=dict(arguments), input_responses=given, request_state=state
            )
            return await self._send(params.model_copy(update={"meta": meta}), call)

        return await self.rounds(send, call)

    async def rounds(self, send: Send[Result], call: OpenCall) -> Result:
        """Ask until there is a result, and answer what the server asks meanwhile.

        Args:
            send: Asks once, with the answers to what was asked before and a state to give back.
            call: The call as it is under way.

        Raises:
            MCPError: The server refused it, or is gone.
            ToolError: It asks for what it does not get.
        """
        given, state = None, None
        for number in range(_MOST_ROUNDS + 1):
            context = call.context
            key = context.key if number == 0 else f"{context.key}#{number}"
            meta: dict[str, Any] = {**context.trace, KEY: key}
            if self.is_modern:
                meta[types.CLIENT_CAPABILITIES_META_KEY] = declared(context.offers)
            result = await send(given, state, meta)
            if not isinstance(result, types.InputRequiredResult):
                return result
            given, state = await _answers(result, call, number), result.request_state
        text = f"it asked for more input {_MOST_ROUNDS} times and never gave a result"
        raise ToolError("E_TOOL_FAILED", text)

    async def _send(
        self, params: types.CallToolRequestParams, call: OpenCall
    ) -> types.CallToolResult | types.InputRequiredResult:
        request = types.CallToolRequest(params=params)
        try:
            return await self.send(request, _RESULT, call)
        except MCPError as error:
            if error.code != types.HEADER_MISMATCH or not self.is_modern:
                raise
            # Nothing was done: the headers follow the listed schema, which is another one by now.
            await self.list()
            self.changed.set()
            return await self.send(request, _RESULT, call)

    async def send(
        self, request: types.ClientRequest, result: TypeAdapter[Result], call: OpenCall
    ) -> Result:
        """Ask once, as part of a call.

        Args:
            request: With what `rounds` gave for its `_meta`.
            result: What may be answered.
            call: The call as it is under way.

        Raises:
            MCPError: The server refused it, or is gone.
        """
        if self.is_modern:
            request = cast("types.ClientRequest", _Declaring(request))
        session = self.client.session
        return await session.send_request(request, result, progress_callback=call.progress)

    def doubt(self) -> None:
        """Ask a program whether it is there, since it left a call open that was given up.

        One that does not answer either is ended, so that another is started for the next call.
        """
        if self.wire.process is not None and self.tasks is not None and not self._doubted:
            self._doubted = True
            self.tasks.start_soon(self._look)

    async def _look(self) -> None:
        session = self.client.session
        with anyio.move_on_after(_PATIENCE) as scope, suppress(Exception):  # any answer is one
            if self.is_modern:
                await session.send_request(types.DiscoverRequest(), types.DiscoverResult)
            else:
                await session.send_request(types.PingRequest(), types.EmptyResult)
        self._doubted = False
        if scope.cancelled_caught:
            self.wire.silent = f"it answered nothing for {_PATIENCE:g} s after a call was given up"
            self.wire.gone.set()

    async def _listen(self) -> None:
        """Hear of changes (protocol without handshake), also after the stream has broken off."""
        pause, was_lost = 1.0, False
        while True:
            began = anyio.current_time()
            try:
                async with self.client.listen(
                    tools_list_changed=True, resources_list_changed=True, prompts_list_changed=True
                ) as events:
                    if was_lost:  # they may be others by now, without a notice
                        self.changed.set()
                        self.listed("resources")
                        self.listed("prompts")
                    async for event in events:
                        if isinstance(event, ResourcesListChanged):
                            self.listed("resources")
                        elif isinstance(event, PromptsListChanged):
                            self.listed("prompts")
                        else:
                            self.changed.set()
            except MCPError as error:
                if error.code in _NEVER_TELLS:
                    return
            except Exception:  # noqa: BLE001, S110  lost, in one of several ways: begin again
                pass
            lasted = anyio.current_time() - began > _LONGEST_PAUSE
            was_lost = True
            pause = 1.0 if lasted else min(2 * pause, _LONGEST_PAUSE)
            await anyio.sleep(pause)
            self.changed.set()


async def _answers(
    result: types.InputRequiredResult, call: OpenCall, number: int
) -> types.InputResponses | None:
    if not result.input_requests:
        await anyio.sleep(min(0.05 * 2**number, 0.5))  # it wants to be asked again, no more
        return None
    try:
        return dict(await call.answers(result.input_requests))
    except ToolError as error:
        text = f"its question was refused: {error.message}"
        raise ToolError("E_TOOL_FAILED", text) from None
