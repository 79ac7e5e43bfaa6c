"""Resources, prompts and completions of one server behind a front, passed on.

What is read is a call, like those of tools: policy judges it, and the record holds it. Lists are
passed on as they are, without entries that policy always denies.
"""

from collections.abc import AsyncGenerator, Callable, Hashable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Literal, Protocol, TypeVar

import anyio
import mcp_types as types
from mcp.server.context import CallNext, HandlerResult
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import ResourceUpdated, SubscriptionBus
from mcp.shared.exceptions import MCPError
from pydantic import BaseModel

from lineshaft.errors import LineshaftError
from lineshaft.mcp._text import DESCRIPTION, PARAMETER, clean
from lineshaft.mcp.client import COMPLETE, PROMPT, READ, WATCH, Listed, McpServer
from lineshaft.mcp.front.client import Asked, Client, ToolReply
from lineshaft.mcp.front.passing import bounded
from lineshaft.mcp.front.presence import while_there
from lineshaft.mcp.front.request import Request, RequestContext, connection_of, input_request
from lineshaft.mcp.front.watchers import Tell, Watchers
from lineshaft.values import VerdictKind

_PATIENCE_SECONDS = 5.0
"""How long the first client waits for a server that is slow to start."""

_KINDS: Sequence[Listed | Literal["completions"]] = ("resources", "prompts", "completions")
_WATCHES = "lineshaft.watches"

Result = TypeVar("Result", bound=BaseModel)
Page = TypeVar("Page", bound=BaseModel)
T = TypeVar("T")
Item = TypeVar("Item", types.Resource, types.ResourceTemplate, types.Prompt)


class Behind(Protocol):
    """The part of a front that passed resources need."""

    async def beside(
        self, method: str, arguments: Mapping[str, object], client: Client
    ) -> ToolReply | Asked:
        """Make a call of what the server has beside its tools."""
        ...

    def verdict(self, method: str, arguments: Mapping[str, object]) -> VerdictKind:
        """Return what policy says of such a call."""
        ...

    def without_secrets(self, value: T) -> T:
        """Return data as a client may read it."""
        ...

    def shorten(self, text: str, most: int) -> str:
        """Return a text of so many characters at most; the whole is kept."""
        ...


class PassedResources:
    """The resources and prompts of one server, passed on.

    Args:
        server: The server.
        front: Makes calls of it.
        bus: Tells clients of the newest protocol what has changed.
    """

    def __init__(self, server: McpServer, front: Behind, bus: SubscriptionBus) -> None:
        self._server = server
        self._beside = server.beside
        self._beside.offered = True
        self._front = front
        self._bus = bus
        self._watchers = Watchers(server.beside)
        self._looked = False

    @property
    def watchable(self) -> bool:
        """Whether the server says when resources change."""
        return self._beside.watchable

    def offers(self, kind: Listed) -> bool:
        """Return whether the server has something of a kind; where that is not known, it may."""
        return self._beside.offers(kind)

    def narrow(self, found: types.ServerCapabilities) -> None:
        """Take out of what a client is told what the server does not have."""
        for kind in _KINDS:
            if not self._beside.offers(kind):
                setattr(found, kind, None)

    @asynccontextmanager
    async def opened(self, listed: Callable[[Listed], None]) -> AsyncGenerator[None]:
        """Tell clients of changes inside the block.

        Args:
            listed: Told whenever lists of resources or prompts may be others than before.
        """
        self._beside.listed = listed
        try:
            async with self._watchers.opened():
                yield
        finally:
            self._beside.listed = lambda _kind: None

    async def look(self, ctx: RequestContext, call_next: CallNext) -> HandlerResult:
        """Wait, before the first client is told what there is, until that is known."""
        if not self._looked and ctx.method in ("initialize", "server/discover"):
            with anyio.move_on_after(_PATIENCE_SECONDS):
                await self._server.ready()
            self._looked = True
        result = await call_next(ctx)
        if ctx.method == "initialize" and isinstance(result, dict):
            # What there is was asked when the connection began, and may be known only now.
            told = result.get("capabilities", {})
            for kind in _KINDS:
                if not self._beside.offers(kind):
                    told.pop(kind, None)
            if "resources" in told:
                told["resources"]["subscribe"] = self.watchable
        return result

    def register(self, server: Server[Any]) -> None:
        """Register the handlers with a server."""
        pages = types.PaginatedRequestParams
        add = server.add_request_handler
        add("resources/list", pages, self._resources)
        add("resources/templates/list", pages, self._templates)
        add("resources/read", types.ReadResourceRequestParams, self._read)
        add("prompts/list", pages, self._prompts)
        add("prompts/get", types.GetPromptRequestParams, self._prompt)
        add("completion/complete", types.CompleteRequestParams, self._complete)
        add("resources/subscribe", types.SubscribeRequestParams, self._subscribe)
        add("resources/unsubscribe", types.UnsubscribeRequestParams, self._unsubscribe)

    async def _resources(
        self, context: RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListResourcesResult:
        del context
        request = types.ListResourcesRequest(params=_page(params))
        found = await self._list(request, types.ListResourcesResult(resources=[]))
        kept = [each for each in found.resources if not self._denied(READ, uri=each.uri)]
        return found.model_copy(update={"resources": self._shown(kept)})

    async def _templates(
        self, context: RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListResourceTemplatesResult:
        del context
        request = types.ListResourceTemplatesRequest(params=_page(params))
        found = await self._list(request, types.ListResourceTemplatesResult(resource_templates=[]))
        listed = found.resource_templates
        kept = [each for each in listed if not self._denied(READ, uri=each.uri_template)]
        return found.model_copy(update={"resource_templates": self._shown(kept)})

    async def _prompts(
        self, context: RequestContext, params: types.PaginatedRequestParams
    ) -> types.ListPromptsResult:
        del context
        request = types.ListPromptsRequest(params=_page(params))
        found = await self._list(request, types.ListPromptsResult(prompts=[]))
        kept = [each for each in found.prompts if not self._denied(PROMPT, name=each.name)]
        return found.model_copy(update={"prompts": self._shown(kept)})

    async def _list(self, request: types.Request[Any, Any], none: Page) -> Page:
        """Return what the server lists; nothing where it has nothing of this kind."""
        try:
            return await self._beside.page(request, type(none))
        except LineshaftError as error:
            raise MCPError(types.INTERNAL_ERROR, error.message) from error
        except MCPError as error:
            if error.code == types.METHOD_NOT_FOUND:
                return none
            hidden = self._front.without_secrets
            raise MCPError(error.code, hidden(error.message), hidden(error.data)) from None

    def _shown(self, listed: Sequence[Item]) -> list[Item]:
        """Return what is listed as a client may read it; what it is called by stays as it is."""
        return [
            each.model_copy(
                update={
                    "title": self._prose(each.title, DESCRIPTION),
                    "description": self._prose(each.description, DESCRIPTION),
                    **self._arguments(each),
                }
            )
            for each in listed
        ]

    def _prose(self, text: str | None, most: int) -> str | None:
        return None if text is None else clean(self._front.without_secrets(text), most)

    def _arguments(self, each: Item) -> dict[str, object]:
        if not isinstance(each, types.Prompt) or each.arguments is None:
            return {}
        told = [
            argument.model_copy(
                update={
                    "title": self._prose(argument.title, PARAMETER),
                    "description": self._prose(argument.description, PARAMETER),
                }
            )
            for argument in each.arguments
        ]
        return {"arguments": told}

    def _denied(self, method: str, **arguments: object) -> bool:
        return self._front.verdict(method, arguments) in ("deny", "stop")

    async def _read(
        self, context: RequestContext, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult | types.InputRequiredResult:
        request = Request(context, params)
        return await self.call(request, READ, {"uri": params.uri}, types.ReadResourceResult)

    async def _prompt(
        self, context: RequestContext, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        given = {"name": params.name, "arguments": dict(params.arguments or {})}
        request = Request(context, params)
        return await self.call(request, PROMPT, given, types.GetPromptResult)

    async def _complete(
        self, context: RequestContext, params: types.CompleteRequestParams
    ) -> types.CompleteResult | types.InputRequiredResult:
        given = params.model_dump(
            by_alias=True, mode="json", exclude_none=True, include={"ref", "argument", "context"}
        )
        if self._front.verdict(COMPLETE, given) != "allow":  # a person is not asked at every key
            return types.CompleteResult(completion=types.Completion(values=[]))
        return await self.call(Request(context, params), COMPLETE, given, types.CompleteResult)

    async def _subscribe(
        self, context: RequestContext, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        client = connection_of(context)
        if _WATCHES not in client.state:
            client.state[_WATCHES] = True
            client.exit_stack.push_async_callback(self._watchers.gone, client)
        await self._hold(
            context, params, params.uri, (client, context.session.send_resource_updated)
        )
        return types.EmptyResult()

    async def _unsubscribe(
        self, context: RequestContext, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        await self._watchers.let_go(connection_of(context), params.uri)
        return types.EmptyResult()

    @asynccontextmanager
    async def listening(
        self, context: RequestContext, params: types.SubscriptionsListenRequestParams
    ) -> AsyncGenerator[types.SubscriptionsListenRequestParams]:
        """Tell a client of the newest protocol about changed resources inside the block.

        Args:
            context: Its request.
            params: What it wants to hear of; given back with what it may.
        """
        who, held = object(), list[str]()
        wanted = params.notifications
        try:
            for uri in dict.fromkeys(wanted.resource_subscriptions or ()):
                if self._front.verdict(WATCH, {"uri": uri}) == "allow":
                    with suppress(MCPError):  # what it may not hear of is not promised
                        await self._hold(context, params, uri, (who, self._publish))
                        held.append(uri)
            kept = wanted.model_copy(update={"resource_subscriptions": held or None})
            yield params.model_copy(update={"notifications": kept})
        finally:
            with anyio.CancelScope(shield=True):
                await self._watchers.gone(who)

    async def _hold(
        self,
        context: RequestContext,
        params: types.RequestParams,
        uri: str,
        client: tuple[Hashable, Tell],
    ) -> None:
        if not self.watchable:
            text = "the server does not say when resources change"
            raise MCPError(types.METHOD_NOT_FOUND, text)
        if self._denied(READ, uri=uri):
            raise MCPError(types.INVALID_REQUEST, "E_DENIED: policy denies to read this resource")
        request = Request(context, params)
        who, tell = client

        async def begin() -> None:
            await self.call(request, WATCH, {"uri": uri}, types.EmptyResult)

        await self._watchers.hold(who, uri, tell, begin)

    async def _publish(self, uri: str) -> None:
        await self._bus.publish(ResourceUpdated(uri=uri))

    async def call(
        self, request: Request, method: str, given: Mapping[str, object], result: type[Result]
    ) -> Result | types.InputRequiredResult:
        """Make a call for a client.

        Args:
            request: The client's.
            method: What is called.
            given: The arguments.
            result: What comes of it.

        Raises:
            MCPError: It was refused, or has failed.
        """
        reply = await while_there(
            request.context, lambda: self._front.beside(method, given, request)
        )
        if isinstance(reply, Asked):
            asked = reply.questions.items()
            return types.InputRequiredResult(
                input_requests={key: input_request(each) for key, each in asked},
                request_state=reply.state,
            )
        if reply.is_error:
            raise MCPError(types.INVALID_REQUEST, reply.text)
        value = bounded(method, given, reply.value, shorten=self._front.shorten)
        return result.model_validate(value)


def _page(params: types.PaginatedRequestParams) -> types.PaginatedRequestParams:
    return types.PaginatedRequestParams(cursor=params.cursor)
