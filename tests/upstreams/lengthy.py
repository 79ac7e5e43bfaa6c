"""A server of the official SDK that says too much. To be used in process."""

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

Context = ServerRequestContext[Any, Any]
URI = "long://it"
LARGE = base64.b64encode(bytes(1_000_001)).decode()
SMALL = base64.b64encode(b"small").decode()
SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


def text(words: str, **more: Any) -> types.TextResourceContents:
    """Return a text of a resource."""
    return types.TextResourceContents.model_validate({"uri": URI, "text": words, **more})


def blob(data: str) -> types.BlobResourceContents:
    """Return bytes of a resource."""
    return types.BlobResourceContents(uri=URI, mime_type="application/pdf", blob=data)


def image(data: str) -> types.ImageContent:
    """Return an image."""
    return types.ImageContent(data=data, mime_type="image/png")


def held(resource: types.TextResourceContents | types.BlobResourceContents) -> types.ContentBlock:
    """Return a resource as a block."""
    return types.EmbeddedResource(resource=resource)


def lengthy(
    contents: Sequence[types.TextResourceContents | types.BlobResourceContents] = (),
    messages: Sequence[types.ContentBlock] = (),
    results: Mapping[str, list[types.ContentBlock]] | None = None,
    about: str = "",
) -> Server[Any]:
    """Return a server.

    Args:
        contents: Of its resource.
        messages: Of its prompt.
        results: Of its tools, by name.
        about: The description of all there is.
    """
    tools = dict(results or {})

    async def list_tools(context: Context, params: object) -> types.ListToolsResult:
        del context, params
        hints = types.ToolAnnotations(read_only_hint=True)
        return types.ListToolsResult(
            tools=[
                types.Tool(name=name, input_schema=SCHEMA, description=about, annotations=hints)
                for name in tools
            ]
        )

    async def call(context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        del context
        return types.CallToolResult(content=tools[params.name])

    async def list_resources(context: Context, params: object) -> types.ListResourcesResult:
        del context, params
        found = types.Resource(uri=URI, name="it", title=about, description=about)
        return types.ListResourcesResult(resources=[found])

    async def list_prompts(context: Context, params: object) -> types.ListPromptsResult:
        del context, params
        argument = types.PromptArgument(name="of", description=about)
        found = types.Prompt(name="it", description=about, arguments=[argument])
        return types.ListPromptsResult(prompts=[found])

    async def read(context: Context, params: object) -> types.ReadResourceResult:
        del context, params
        return types.ReadResourceResult(contents=list(contents))

    async def prompt(context: Context, params: object) -> types.GetPromptResult:
        del context, params
        said = [types.PromptMessage(role="assistant", content=each) for each in messages]
        return types.GetPromptResult(messages=said, description=about)

    return Server(
        "lengthy",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call,
        on_list_resources=list_resources,
        on_list_prompts=list_prompts,
        on_read_resource=read,
        on_get_prompt=prompt,
    )
