"""A front as a server of the SDK: both kinds of protocol, on any transport."""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Literal

import anyio
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.connection import Connection
from mcp.server.lowlevel.server import NotificationOptions, Server
from mcp.server.models import InitializationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.session import ServerSession
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

from lineshaft import __version__
from lineshaft.mcp.client import Listed
from lineshaft.mcp.front.blocks import blocks_of, room_for
from lineshaft.mcp.front.client import Asked, ToolReply, UnknownTool
from lineshaft.mcp.front.front import Front
from lineshaft.mcp.front.presence import while_there
from lineshaft.mcp.front.request import LEAST, Request, RequestContext, connection_of, input_request
from lineshaft.mcp.front.resources import PassedResources

NAME = "lineshaft"
RUN_META = "lineshaft/run"
"""The member of `_meta` that says how a run went, for programs."""

_LISTENERS = 256
_SHORTEST_PAUSE = 0.1
"""Seconds between two times that clients are told of changed lists."""

_FRESH = CacheHint(ttl_ms=5_000)


_EVENTS = {
    "tools": ToolsListChanged,
    "resources": ResourcesListChanged,
    "prompts": PromptsListChanged,
}
_TELLING = {
    "tools": ServerSession.send_tool_list_changed,
    "resources": ServerSession.send_resource_list_changed,
    "prompts": ServerSession.send_prompt_list_changed,
}


class FrontServer(Server[Any]):
    """The server of a front; use it inside `opened`.

    Args:
        front: What it speaks for.
    """

    def __init__(self, front: Front) -> None:
        self._front = front
        self._bus = InMemorySubscriptionBus()
        self._listening = ListenHandler(self._bus, max_subscriptions=_LISTENERS)
        self._older: OrderedDict[Connection, ServerSession] = OrderedDict()
        self._moved = anyio.Event()
        self._changed: dict[Listed | Literal["tools"], None] = {}
        """The lists that have changed, and of which clients were not told yet."""

        super().__init__(
            NAME,
            version=__version__,
            instructions=front.instructions,
            cache_hints={
                "tools/list": _FRESH,
                "resources/list": _FRESH,
                "resources/templates/list": _FRESH,
                "resources/read": _FRESH,
                "prompts/list": _FRESH,
                "server/discover": _FRESH,
            },
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=self._listen,
        )
        security = RequestStateSecurity.ephemeral()
        security.bind_principal = _client_of
        self.middleware.append(RequestStateBoundary(security, default_audience=NAME))
        self.add_request_handler("logging/setLevel", types.SetLevelRequestParams, _set_level)
        self._passed = None
        if (server := front.passed) is not None:
            self._passed = PassedResources(server, front, self._bus)
            self._passed.register(self)
            self.middleware.append(self._passed.look)
        self.add_notification_handler(
            "notifications/initialized", types.NotificationParams, self._came
        )

    def create_initialization_options(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
    ) -> InitializationOptions:
        """Return what an older client is told when it connects, as things stand now."""
        self.instructions = self._front.instructions
        options = notification_options or NotificationOptions(tools_changed=True)
        return super().create_initialization_options(options, experimental_capabilities, extensions)

    def get_capabilities(
        self,
        notification_options: NotificationOptions | None = None,
        experimental_capabilities: dict[str, dict[str, Any]] | None = None,
        extensions: dict[str, dict[str, Any]] | None = None,
        *,
        protocol_version: str | None = None,
    ) -> types.ServerCapabilities:
        """Return what this server does: changes of each list are told."""
        found = super().get_capabilities(
            notification_options,
            experimental_capabilities,
            extensions,
            protocol_version=protocol_version,
        )
        if self._passed is not None:
            self._passed.narrow(found)
        if found.resources is not None:
            watchable = self._passed is not None and self._passed.watchable
            found.resources = types.ResourcesCapability(subscribe=watchable, list_changed=True)
        if found.prompts is not None:
            found.prompts = types.PromptsCapability(list_changed=True)
        return found

    @asynccontextmanager
    async def opened(self) -> AsyncGenerator[None]:
        """Serve inside the block; at its end all that is under way is ended and recorded."""
        async with AsyncExitStack() as stack:
            await stack.enter_async_context(self._front.opened())
            if self._passed is not None:
                await stack.enter_async_context(self._passed.opened(self._has_changed))
            group = await stack.enter_async_context(anyio.create_task_group())
            group.start_soon(self._announce)
            end = self._front.watch(lambda: self._has_changed("tools"))
            try:
                yield
            finally:
                end()
                self._listening.close()
                group.cancel_scope.cancel()

    def _has_changed(self, kind: Listed | Literal["tools"]) -> None:
        self._changed[kind] = None
        self._moved.set()

    async def _announce(self) -> None:
        """Tell clients whenever a list has changed."""
        while True:
            await self._moved.wait()
            self._moved = anyio.Event()
            changed, self._changed = self._changed, {}
            self.instructions = self._front.instructions
            for kind in changed:
                await self._bus.publish(_EVENTS[kind]())
                async with anyio.create_task_group() as group:
                    for session in self._older.values():
                        group.start_soon(_tell, kind, session)
            await anyio.sleep(_SHORTEST_PAUSE)  # a server may say it without end

    async def _came(self, context: RequestContext, params: types.NotificationParams) -> None:
        del params
        client = connection_of(context)
        if client not in self._older:
            client.exit_stack.callback(self._older.pop, client, None)
        self._older[client] = context.session
        while len(self._older) > _LISTENERS:
            self._older.popitem(last=False)

    async def _listen(
        self, context: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        if self._passed is None:
            return await self._listening(context, _honoured(params, lambda _kind: False))
        async with self._passed.listening(context, params) as allowed:
            return await self._listening(context, _honoured(allowed, self._passed.offers))

    async def _list(
        self, context: RequestContext, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del context
        if params is not None and params.cursor is not None:  # none was ever given out
            raise MCPError(types.INVALID_PARAMS, f"there is no page {params.cursor[:100]!r}")
        await self._front.settled()
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(each) for each in self._front.definitions()]
        )

    async def _call(
        self, context: RequestContext, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        request = Request(context, params)

        async def answer() -> ToolReply | Asked:
            try:
                return await self._front.call(params.name, params.arguments, request)
            except UnknownTool:
                text = f"there is no tool {params.name[:200]!r}"
                raise MCPError(types.INVALID_PARAMS, text) from None

        return self._told(await while_there(context, answer), context)

    def _told(
        self, reply: ToolReply | Asked, context: RequestContext
    ) -> types.CallToolResult | types.InputRequiredResult:
        if isinstance(reply, Asked):
            return types.InputRequiredResult(
                input_requests={key: input_request(each) for key, each in reply.questions.items()},
                request_state=reply.state,
            )
        known_client = context.session.client_params
        name = "" if known_client is None else known_client.client_info.name
        content = blocks_of(reply, self._front.contents, room=room_for(name))
        known: dict[str, Any] = {}
        if reply.structured is not None:
            known["structured_content"] = reply.structured
        if reply.run is not None:
            known["_meta"] = {RUN_META: dict(reply.run)}
        return types.CallToolResult(content=content, is_error=reply.is_error, **known)


@asynccontextmanager
async def front_server(front: Front) -> AsyncGenerator[Server[Any]]:
    """Give a front as a server object of the SDK, for clients in this process or other transports.

    Args:
        front: What is served; its session is entered.
    """
    server = FrontServer(front)
    async with server.opened():
        yield server


async def _tell(kind: Listed | Literal["tools"], session: ServerSession) -> None:
    # A client that does not read must not keep others waiting.
    with anyio.move_on_after(1):
        await _TELLING[kind](session)


async def _set_level(
    context: RequestContext, params: types.SetLevelRequestParams
) -> types.EmptyResult:
    connection_of(context).state[LEAST] = params.level
    return types.EmptyResult()


def _honoured(
    params: types.SubscriptionsListenRequestParams, offers: Callable[[Listed], bool]
) -> types.SubscriptionsListenRequestParams:
    """Return what a client wants to hear of without what is not there: that is not promised."""
    left_out: dict[str, None] = {}
    if not offers("resources"):
        left_out |= {"resources_list_changed": None, "resource_subscriptions": None}
    if not offers("prompts"):
        left_out["prompts_list_changed"] = None
    wanted = params.notifications.model_copy(update=left_out)
    return params.model_copy(update={"notifications": wanted})


def _client_of(context: RequestContext) -> str | None:
    """Return who a client says it is: what one was given is of no use to another."""
    known = context.session.client_params
    info = known.client_info if known is not None else None
    return f"{info.name}/{info.version}" if info is not None else None
