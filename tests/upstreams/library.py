"""A server of the official SDK with resources that change, and prompts.

To be used in process; as a program, it serves its standard streams, and `die` ends it. With the
path of a file it speaks the newest protocol, and once it has died the file keeps it from starting.
"""

import os
import sys
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import anyio
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.runner import serve_loop
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    ResourcesListChanged,
    ResourceUpdated,
)
from mcp.shared.exceptions import MCPError
from mcp.shared.memory import create_client_server_memory_streams

Context = ServerRequestContext[Any, Any]


class Library:
    """Shelves of books.

    Args:
        older: Whether it speaks the older protocol alone.
        watchable: Whether it tells of changes.
        grave: The file that is written where it dies.
    """

    def __init__(
        self, *, older: bool = False, watchable: bool = True, grave: Path | None = None
    ) -> None:
        self._grave = grave
        self.books = {"book://a": "alpha", "book://b": "beta", "secret://plan": "hush"}
        self.asked: list[str] = []
        """What was read, filled in or completed."""

        self.watched: list[tuple[str, str]] = []
        """What it was asked of watching, by the older protocol."""

        self.listeners = 0
        """Streams of the newest that watch something."""

        self._bus = InMemorySubscriptionBus()
        self._sessions: dict[str, Any] = {}
        self._clients: dict[int, Any] = {}
        self._listening = ListenHandler(self._bus)
        more: dict[str, Any] = {}
        if watchable:
            more = {
                "on_subscribe_resource": self._watch,
                "on_unsubscribe_resource": self._leave,
                "on_subscriptions_listen": self._listen,
            }
        self.server: Server[Any] = Server(
            "library",
            version="1",
            on_list_resources=self._list,
            on_list_resource_templates=self._templates,
            on_read_resource=self._read,
            on_list_prompts=self._prompts,
            on_get_prompt=self._prompt,
            on_completion=self._complete,
            on_list_tools=self._tools,
            on_call_tool=self._call,
            **more,
        )
        self.offered = Older(self.server) if older else self.server

    async def change(self, uri: str) -> None:
        """Change a resource, and tell whoever watches."""
        await self._bus.publish(ResourceUpdated(uri=uri))
        if (session := self._sessions.get(uri)) is not None:
            await session.send_resource_updated(uri)

    async def add(self, uri: str, text: str) -> None:
        """Add a book, and tell clients that there are others."""
        self.books[uri] = text
        await self._bus.publish(ResourcesListChanged())
        for session in self._clients.values():
            await session.send_resource_list_changed()

    async def tell(self, uri: str) -> None:
        """Tell whoever watches anything that a resource has changed."""
        await next(iter(self._sessions.values())).send_resource_updated(uri)

    async def _tools(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        del context, params
        hints = types.ToolAnnotations(read_only_hint=True)
        schema: dict[str, Any] = {"type": "object", "properties": {}}
        return types.ListToolsResult(
            tools=[types.Tool(name="die", input_schema=schema, annotations=hints)]
        )

    async def _call(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        del context, params
        if self._grave is not None:
            self._grave.touch()
        os._exit(1)

    async def _list(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        del params
        self._clients[id(context.session)] = context.session
        return types.ListResourcesResult(
            resources=[
                types.Resource(uri=uri, name=uri, description=f"about {text}")
                for uri, text in self.books.items()
            ]
        )

    async def _templates(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        del context, params
        found = [
            types.ResourceTemplate(uri_template=f"{kind}://{{id}}", name=kind)
            for kind in ("book", "secret")
        ]
        return types.ListResourceTemplatesResult(resource_templates=found)

    async def _read(
        self, context: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        del context
        self.asked.append(params.uri)
        if params.uri not in self.books:
            raise MCPError(types.INVALID_PARAMS, "no such book", {"uri": params.uri})
        text = types.TextResourceContents(uri=params.uri, text=self.books[params.uri])
        return types.ReadResourceResult(contents=[text])

    async def _prompts(
        self, context: Context, params: types.PaginatedRequestParams | None
    ) -> types.ListPromptsResult:
        del context, params
        return types.ListPromptsResult(
            prompts=[types.Prompt(name=name) for name in ("praise", "blame", "ask")]
        )

    async def _prompt(
        self, context: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult | types.InputRequiredResult:
        name = params.name
        self.asked.append(name)
        if name == "ask":
            schema = {"type": "object", "properties": {"who": {"type": "string"}}}
            if context.session.can_send_request:
                said = await context.session.elicit_form("Who?", schema, context.request_id)
            elif params.input_responses is None:
                form = types.ElicitRequestFormParams(message="Who?", requested_schema=schema)
                return types.InputRequiredResult(
                    input_requests={"who": types.ElicitRequest(params=form)}
                )
            else:
                said = params.input_responses["who"]
            assert isinstance(said, types.ElicitResult)
            name = f"ask {(said.content or {}).get('who')}"
        text = f"{name}: {params.arguments}"
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(messages=[message])

    async def _complete(
        self, context: Context, params: types.CompleteRequestParams
    ) -> types.CompleteResult:
        del context
        self.asked.append(params.argument.value)
        values = [f"{params.argument.value}!"]
        return types.CompleteResult(completion=types.Completion(values=values))

    async def _watch(
        self, context: Context, params: types.SubscribeRequestParams
    ) -> types.EmptyResult:
        self.watched.append(("watch", params.uri))
        if params.uri.startswith("locked://"):
            raise MCPError(types.INVALID_PARAMS, "this one is locked")
        self._sessions[params.uri] = context.session
        return types.EmptyResult()

    async def _leave(
        self, context: Context, params: types.UnsubscribeRequestParams
    ) -> types.EmptyResult:
        del context
        self.watched.append(("leave", params.uri))
        self._sessions.pop(params.uri, None)
        return types.EmptyResult()

    async def _listen(
        self, context: Context, params: types.SubscriptionsListenRequestParams
    ) -> types.SubscriptionsListenResult:
        uris = params.notifications.resource_subscriptions or []
        if any(uri.startswith("locked://") for uri in uris):
            raise MCPError(types.INVALID_PARAMS, "this one is locked")
        self.listeners += bool(uris)
        try:
            return await self._listening(context, params)
        finally:
            self.listeners -= bool(uris)


class Older:
    """A way to a server that speaks the older protocol alone; the SDK's client takes it for one.

    Args:
        server: The server.
    """

    name = "library"

    def __init__(self, server: Server[Any]) -> None:
        self._server = server
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Any:
        """Begin to serve, and return the client's end."""
        streams = create_client_server_memory_streams()
        client, (read, write) = await self._stack.enter_async_context(streams)
        group = await self._stack.enter_async_context(anyio.create_task_group())
        self._stack.callback(group.cancel_scope.cancel)
        group.start_soon(self.run, read, write)
        return client

    async def __aexit__(self, *error: object) -> None:
        """End."""
        await self._stack.aclose()

    async def run(self, read: Any, write: Any) -> None:
        """Serve a client that shakes hands."""
        server = self._server
        async with server.lifespan(server) as state:
            await serve_loop(server, read, write, lifespan_state=state)


async def main() -> None:
    """Serve standard streams."""
    grave = Path(sys.argv[1]) if sys.argv[1:] else None
    if grave is not None and grave.exists():
        os._exit(1)
    async with stdio_server() as (read, write):
        server = Library(grave=grave).server
        if grave is None:
            await Older(server).run(read, write)
        else:
            await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
