"""Resources and prompts that the server part of the suite asks for."""

import json
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from parts import PNG, ask, form, needs, resource

Context = ServerRequestContext[Any, Any]
TEXT = {"type": "string"}


RESOURCES: dict[str, types.TextResourceContents | types.BlobResourceContents] = {
    "test://static-text": types.TextResourceContents(
        uri="test://static-text",
        mime_type="text/plain",
        text="This is the content of the static text resource.",
    ),
    "test://static-binary": types.BlobResourceContents(
        uri="test://static-binary", mime_type="image/png", blob=PNG
    ),
    "test://watched-resource": types.TextResourceContents(
        uri="test://watched-resource", mime_type="text/plain", text="watched"
    ),
}


async def list_resources(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    """List all resources."""
    del context, params
    held = [
        types.Resource(uri=uri, name=uri[7:], description=uri, mime_type=each.mime_type)
        for uri, each in RESOURCES.items()
    ]
    return types.ListResourcesResult(resources=held)


async def list_templates(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """List all templates."""
    del context, params
    template = types.ResourceTemplate(uri_template="test://template/{id}/data", name="template")
    return types.ListResourceTemplatesResult(resource_templates=[template])


async def read_resource(
    context: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """Read a resource."""
    del context
    if params.uri in RESOURCES:
        return types.ReadResourceResult(contents=[RESOURCES[params.uri]])
    if params.uri.startswith("test://template/"):
        number = params.uri.split("/")[3]
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        held = types.TextResourceContents(
            uri=params.uri, mime_type="application/json", text=json.dumps(data)
        )
        return types.ReadResourceResult(contents=[held])
    raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": params.uri})


async def watch(context: Context, params: types.SubscribeRequestParams) -> types.EmptyResult:
    """Take note of who watches a resource; none ever changes."""
    del context, params
    return types.EmptyResult()


async def watch_no_longer(
    context: Context, params: types.UnsubscribeRequestParams
) -> types.EmptyResult:
    """Take note of who watches a resource no longer."""
    del context, params
    return types.EmptyResult()


def words(text: str) -> types.PromptMessage:
    """Return a message."""
    return types.PromptMessage(role="user", content=types.TextContent(text=text))


async def list_prompts(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    """List all prompts."""
    del context, params
    arguments = {
        "test_simple_prompt": (),
        "test_prompt_with_arguments": ("arg1", "arg2"),
        "test_prompt_with_embedded_resource": ("resourceUri",),
        "test_prompt_with_image": (),
        "test_input_required_result_prompt": (),
    }
    prompts = [
        types.Prompt(
            name=name,
            description=name,
            arguments=[types.PromptArgument(name=each, required=True) for each in taken],
        )
        for name, taken in arguments.items()
    ]
    return types.ListPromptsResult(prompts=prompts)


async def get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    """Fill in a prompt."""
    del context
    given = params.arguments or {}
    match params.name:
        case "test_simple_prompt":
            messages = [words("This is a simple prompt for testing.")]
        case "test_prompt_with_arguments":
            text = f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'"
            messages = [words(text)]
        case "test_prompt_with_embedded_resource":
            text = "Embedded resource content for testing."
            held = resource(given["resourceUri"], text, "text/plain")
            messages = [
                types.PromptMessage(role="user", content=held),
                words("Please process the embedded resource above."),
            ]
        case "test_prompt_with_image":
            image = types.ImageContent(data=PNG, mime_type="image/png")
            messages = [
                types.PromptMessage(role="user", content=image),
                words("Please analyze the image above."),
            ]
        case "test_input_required_result_prompt":
            if not params.input_responses:
                question = ask("What context should the prompt use?", form(context=TEXT))
                return needs(user_context=question)
            messages = [words("with context")]
        case _:
            raise MCPError(types.INVALID_PARAMS, f"unknown prompt {params.name}")
    return types.GetPromptResult(messages=messages)
