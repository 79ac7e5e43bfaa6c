"""Offers of a server beside its tools, as calls: resources, prompts, completions.

They are calls like those of tools, so that policy judges and the record holds them: a rule says
`docs.resources/read`, with the arguments of the method. Their names have a `/`, which no name of a
server's own tool has. They are listed nowhere, and offered only where a front passes them on.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Any, Literal, TypeVar

import anyio
import mcp_types as types
from mcp import MCPError
from pydantic import BaseModel, TypeAdapter, ValidationError

from lineshaft.errors import LineshaftError, ToolError
from lineshaft.mcp._text import clean
from lineshaft.mcp.client.asks import OpenCall, refusals
from lineshaft.mcp.client.connection import Connection, Listed
from lineshaft.mcp.client.failures import (
    SessionForgotten,
    during_a_call,
    is_forgotten,
    is_marked,
    known_again,
    told,
)
from lineshaft.mcp.client.results import too_large
from lineshaft.mcp.client.watches import Watches
from lineshaft.tools import Tool, Toolset
from lineshaft.trace import Redactor
from lineshaft.values import Context, Effect

READ = "resources/read"
PROMPT = "prompts/get"
COMPLETE = "completion/complete"
WATCH = "resources/subscribe"

_SECONDS = 10.0
_LIST_SECONDS = 30.0
_LONGEST = 2_000
_LONGEST_DATA = 8_000
_TEXT: Mapping[str, object] = {"type": "string"}
_TAKES: Mapping[str, tuple[str, Mapping[str, object], tuple[str, ...]]] = {
    READ: ("Read a resource.", {"uri": _TEXT}, ("uri",)),
    PROMPT: (
        "Fill in a prompt.",
        {"name": _TEXT, "arguments": {"type": "object", "additionalProperties": _TEXT}},
        ("name",),
    ),
    COMPLETE: (
        "Complete an argument of a prompt or a resource.",
        {
            "ref": {"type": "object"},
            "argument": {"type": "object"},
            "context": {"type": "object"},
        },
        ("ref", "argument"),
    ),
    WATCH: ("Watch a resource.", {"uri": _TEXT}, ("uri",)),
}

_LISTED: Mapping[str, Listed] = {
    "resources/list": "resources",
    "resources/templates/list": "resources",
    "prompts/list": "prompts",
}
"""The capability that a server has which answers."""

_READ: TypeAdapter[types.ReadResourceResult | types.InputRequiredResult] = TypeAdapter(
    types.ReadResourceResult | types.InputRequiredResult
)
_PROMPT: TypeAdapter[types.GetPromptResult | types.InputRequiredResult] = TypeAdapter(
    types.GetPromptResult | types.InputRequiredResult
)

Page = TypeVar("Page", bound=BaseModel)

_COMPLETE = TypeAdapter(types.CompleteResult)


class ServerResources:
    """The resources and prompts of one server.

    Args:
        namespace: The server's name.
        linked: Gives the connection to it.
        believed: Whether what it says counts; what it calls a read is one then.
        most_bytes: The largest result.
        seconds: Time for each call, where the server's definition says so.
    """

    def __init__(
        self,
        namespace: str,
        linked: Callable[[], Awaitable[Connection]],
        *,
        believed: Callable[[], bool],
        most_bytes: int,
        seconds: float | None,
    ) -> None:
        self._seconds = seconds
        self._namespace = namespace
        self._linked = linked
        self._believed = believed
        self._most_bytes = most_bytes
        self._made: dict[Effect, Toolset] = {}
        self._link: Connection | None = None
        self._has: types.ServerCapabilities | None = None
        self._came = anyio.Event()
        self._watches: Watches | None = None
        self._watched: set[str] = set()
        self._lock = anyio.Lock()
        self.offered = False
        """Whether a front passes it on."""

        self.updated: Callable[[str], None] = lambda _uri: None
        """Told of each watched resource that may be another than before."""

        self.listed: Callable[[Listed], None] = lambda _kind: None
        """Told whenever lists of resources or prompts may be others than before."""

    @property
    def watchable(self) -> bool:
        """Whether the server says when resources change; of one that is lost, whether it did."""
        resources = None if self._has is None else self._has.resources
        return resources is not None and resources.subscribe is True

    @property
    def is_lost(self) -> bool:
        """Whether the connection has ended, and there is no other yet."""
        return self._link is not None and self._link.wire.gone.is_set()

    async def lost(self) -> None:
        """Wait until there was a connection, and it has ended."""
        while self._link is None:
            await self._came.wait()
        await self._link.wire.gone.wait()

    def name(self, method: str) -> str:
        """Return the canonical name of the calls of a method."""
        return f"{self._namespace}.{method}"

    @property
    def tools(self) -> Toolset:
        """All of it as tools; none unless it is offered."""
        if not self.offered:
            return Toolset()
        effect: Effect = "read" if self._believed() else "external"
        if effect not in self._made:
            self._made[effect] = Toolset(self._tool(method, effect) for method in _TAKES)
        return self._made[effect]

    def offers(self, kind: Listed | Literal["completions"]) -> bool:
        """Return whether the server has something of a kind; where that is not known, it may."""
        return self._has is None or getattr(self._has, kind) is not None

    async def connect(self) -> None:
        """Connect, where there is no connection.

        Raises:
            ToolError: There is none now.
        """
        await self._linked()

    async def page(self, request: types.Request[Any, Any], kind: type[Page]) -> Page:
        """Return what the server lists, for lists that are passed on as they are.

        Args:
            request: Asks for it.
            kind: What is answered.

        Raises:
            MCPError: It refused, or does not offer such a list: then it is not asked.
            ToolError: There is no connection now, or no answer in time, or none that is one.
        """

        async def ask(link: Connection) -> Page:
            if getattr(link.client.server_capabilities, _LISTED[request.method]) is None:
                raise MCPError(types.METHOD_NOT_FOUND, f"{request.method!r} is not offered")
            try:
                with anyio.fail_after(seconds):
                    return await link.client.session.send_request(request, kind)
            except MCPError as error:
                if is_forgotten(error, link.wire):
                    raise SessionForgotten from None
                raise MCPError.from_error_data(_cleaned(error.error)) from None

        seconds = self._seconds or _LIST_SECONDS
        about = f"the MCP server {self._namespace!r} was asked for {request.method}"
        try:
            return await known_again(self._linked, ask)
        except TimeoutError:
            text = f"{about}, and did not answer within {seconds:g} s"
            raise ToolError("E_TOOL_TIMEOUT", text) from None
        except ValidationError as error:
            raise ToolError("E_TOOL_FAILED", f"{about}: {told(error, Redactor())}") from None

    def _tool(self, method: str, effect: Effect) -> Tool:
        description, properties, required = _TAKES[method]

        async def function(lineshaft_context: Context, **arguments: object) -> object:
            return await self._call(method, arguments, lineshaft_context)

        return Tool.from_schema(
            name=self.name(method),
            description=description,
            input_schema={
                "type": "object",
                "properties": properties,
                "required": list(required),
                "additionalProperties": False,
            },
            output_schema={"type": "object"},
            function=function,
            effect=effect,
            idempotent=True,
            scriptable=False,
            seconds=self._seconds,
        )

    async def _call(self, method: str, arguments: Mapping[str, object], context: Context) -> object:
        async def ask(link: Connection) -> BaseModel:
            with link.asks.under_way(context) as call:
                try:
                    return await self._ask(link, method, dict(arguments), call)
                except LineshaftError:
                    raise
                except Exception as error:
                    failure = await during_a_call(
                        error,
                        server=self._namespace,
                        wire=link.wire,
                        most_bytes=self._most_bytes,
                        secrets=context.secrets,
                    )
                    heard, forgotten = refusals.get(), isinstance(failure, SessionForgotten)
                    if isinstance(error, MCPError) and heard is not None and not forgotten:
                        heard.append(_cleaned(error.error))
                    raise failure from error

        result = await known_again(self._linked, ask)
        if len(result.model_dump_json()) > self._most_bytes:
            raise too_large(self._most_bytes)
        # Facts that it did not give are left to the front that passes it on.
        unsaid = type(result).model_fields.keys() - result.model_fields_set
        return result.model_dump(by_alias=True, mode="json", exclude_none=True, exclude=unsaid)

    async def _ask(
        self, link: Connection, method: str, arguments: dict[str, Any], call: OpenCall
    ) -> BaseModel:
        if method == WATCH:
            await self._watch(arguments["uri"])
            return types.EmptyResult()

        async def send(
            given: types.InputResponses | None, state: str | None, meta: dict[str, Any]
        ) -> BaseModel | types.InputRequiredResult:
            back = {"input_responses": given, "request_state": state, "meta": meta}
            if method == READ:
                read = types.ReadResourceRequestParams.model_validate(arguments)
                request = types.ReadResourceRequest(params=read.model_copy(update=back))
                return await link.send(request, _READ, call)
            if method == PROMPT:
                get = types.GetPromptRequestParams.model_validate(arguments)
                request = types.GetPromptRequest(params=get.model_copy(update=back))
                return await link.send(request, _PROMPT, call)
            params = types.CompleteRequestParams.model_validate(arguments)
            request = types.CompleteRequest(params=params.model_copy(update={"meta": meta}))
            return await link.send(request, _COMPLETE, call)

        return await link.rounds(send, call)

    def connected(self, link: Connection) -> None:
        """Move to another connection, with everything that is watched."""
        again, self._link = self._link is not None, link
        self._has = link.client.server_capabilities  # not told once it is lost
        self._came.set()
        link.listed = self._has_listed
        if again:  # they may have changed, without a notice
            self.listed("resources")
            self.listed("prompts")
        self._watches = Watches(link, self._has_changed)
        if link.tasks is not None:
            link.tasks.start_soon(self._watch_again, tuple(self._watched))

    async def _watch_again(self, uris: tuple[str, ...]) -> None:
        for uri in uris:
            with suppress(Exception):  # the SDK raises any error of a server
                await self._watch(uri)
            self._has_changed(uri)  # it may have, without a notice

    async def _watch(self, uri: str) -> None:
        async with self._lock:
            if self._watches is None:
                raise ToolError("E_TOOL_FAILED", f"the MCP server {self._namespace!r} is not there")
            with anyio.fail_after(_SECONDS):
                await self._watches.begin(uri)
            self._watched.add(uri)

    async def unwatch(self, uri: str) -> None:
        """Watch a resource no longer; of a server that is lost nothing is watched any more."""
        async with self._lock:
            self._watched.discard(uri)
            if self._watches is not None and not self.is_lost:
                # It may be lost meanwhile, and the SDK raises any error of a server.
                with suppress(Exception), anyio.move_on_after(_SECONDS):
                    await self._watches.end(uri)

    def _has_listed(self, kind: Listed) -> None:
        self.listed(kind)

    def _has_changed(self, uri: str) -> None:
        self.updated(uri)


def _cleaned(error: types.ErrorData) -> types.ErrorData:
    """Return how a server refused something, for a client: of its data no more than fits."""
    data: object = None if is_marked(error) else error.data
    if len(json.dumps(data, default=str)) > _LONGEST_DATA:
        data = None
    return types.ErrorData(code=error.code, message=clean(error.message, _LONGEST), data=data)
