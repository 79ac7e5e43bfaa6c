"""The fixtures that the server part of the suite asks for; what they are is said in its texts."""

import base64
import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import anyio
import mcp_types as types
from held import (
    get_prompt,
    list_prompts,
    list_resources,
    list_templates,
    read_resource,
    watch,
    watch_no_longer,
)
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from offered import OFFERED
from parts import PNG, ask, form, needs, resource

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult

WAV = base64.b64encode(
    b"RIFF\x26\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00"
    b"\x80\x3e\x00\x00\x02\x00\x10\x00data\x02\x00\x00\x00\x00\x00"
).decode()

TEXT = {"type": "string"}
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
RICH = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": TEXT, "city": TEXT},
        }
    },
    "properties": {
        "name": TEXT,
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": TEXT,
        "email": TEXT,
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


OK = form(ok={"type": "boolean"})
DEFAULTS = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": True},
    },
}
TITLED = [{"const": "value1", "title": "First"}, {"const": "value2", "title": "Second"}]
OPTIONS = ["option1", "option2", "option3"]
ENUMS = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}


def said(text: str, *, failed: bool = False) -> types.CallToolResult:
    """Return a result that is text."""
    return types.CallToolResult(content=[types.TextContent(text=text)], is_error=failed)


PLAIN: dict[str, types.CallToolResult] = {
    "test_simple_text": said("This is a simple text response for testing."),
    "test_image_content": types.CallToolResult(
        content=[types.ImageContent(data=PNG, mime_type="image/png")]
    ),
    "test_audio_content": types.CallToolResult(
        content=[types.AudioContent(data=WAV, mime_type="audio/wav")]
    ),
    "test_embedded_resource": types.CallToolResult(
        content=[
            resource(
                "test://embedded-resource", "This is an embedded resource content.", "text/plain"
            )
        ]
    ),
    "test_multiple_content_types": types.CallToolResult(
        content=[
            types.TextContent(text="Multiple content types test:"),
            types.ImageContent(data=PNG, mime_type="image/png"),
            resource(
                "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
            ),
        ]
    ),
    "test_error_handling": said(
        "This tool intentionally returns an error for testing", failed=True
    ),
    "json_schema_2020_12_tool": said("as it was listed"),
    "test_custom_headers": said("the headers fit"),
}
"""Tools that always answer the same."""


async def logs(context: Context) -> Result:
    """Log three lines."""
    for text in ("started", "processing data", "completed"):
        what = f"Tool {'' if text.startswith('processing') else 'execution '}{text}"
        await context.session.send_log_message(  # pyright: ignore[reportDeprecated]  the suite asks for it
            "info", what, related_request_id=context.request_id
        )
        await anyio.sleep(0.05)
    return said("logged")


async def progresses(context: Context) -> Result:
    """Report progress three times."""
    for done in (0, 50, 100):
        await context.session.report_progress(done, 100)
        await anyio.sleep(0.05)
    return said("done")


async def changes(context: Context) -> Result:
    """Change the list of tools, and say so."""
    del context
    CHANGED.append(None)
    await BUS.publish(ToolsListChanged())
    return said("changed")


async def changes_prompts(context: Context) -> Result:
    """Say that the list of prompts has changed."""
    del context
    await BUS.publish(PromptsListChanged())
    return said("changed")


async def reconnects(context: Context) -> Result:
    """Answer after a while."""
    del context
    await anyio.sleep(0.2)
    return said("Reconnection test completed")


async def asks(context: Context, message: str, schema: dict[str, Any]) -> Result:
    """Ask for something, by a request or by an answer to come back from."""
    if context.session.can_send_request:
        answer = await context.session.elicit_form(message, schema, context.request_id)
    else:
        params: Mapping[str, Any] = context.params or {}
        given: dict[str, Any] = params.get("inputResponses") or {}
        if "asked" not in given:
            return needs(asked=ask(message, schema))
        answer = types.ElicitResult.model_validate(given["asked"])
    content = json.dumps(answer.content or {})
    return said(f"User response: action={answer.action}, content={content}")


BUS = InMemorySubscriptionBus()
CHANGED: list[None] = []
"""How often the list of tools has changed."""

NAME = form(name=TEXT)


def content_of(params: types.CallToolRequestParams, key: str) -> dict[str, Any] | None:
    """Return what was filled in under a key."""
    found = (params.input_responses or {}).get(key)
    return dict(found.content or {}) if isinstance(found, types.ElicitResult) else None


def by_key(
    params: types.CallToolRequestParams, key: str, question: types.ElicitRequest
) -> Result | dict[str, Any]:
    """Return what was filled in, or the question for it."""
    found = content_of(params, key)
    return needs("state-1", **{key: question}) if found is None else found


async def elicits(params: types.CallToolRequestParams) -> Result:
    """Ask for a name, in one round."""
    found = by_key(params, "user_name", ask("What is your name?", NAME))
    return said(f"Hello, {found['name']}!") if isinstance(found, dict) else found


async def keeps_state(params: types.CallToolRequestParams) -> Result:
    """Ask for a confirmation, and look at the state."""
    found = by_key(params, "confirm", ask("Please confirm", OK))
    if not isinstance(found, dict):
        return found
    return said("state-ok" if params.request_state == "state-1" else "state lost")


async def rounds(params: types.CallToolRequestParams) -> Result:
    """Ask in two rounds."""
    if params.request_state is None:
        return needs("round-1", step1=ask("Step 1: What is your name?", NAME))
    if params.request_state == "round-1":
        colour = form(color=TEXT)
        return needs("round-2", step2=ask("Step 2: What is your favorite color?", colour))
    return said(f"done in two rounds: {content_of(params, 'step2')}")


ROUNDS: dict[str, Callable[[types.CallToolRequestParams], Awaitable[Result]]] = {
    "test_input_required_result_elicitation": elicits,
    "test_input_required_result_request_state": keeps_state,
    "test_input_required_result_tampered_state": keeps_state,
    "test_input_required_result_multi_round": rounds,
}
DOING: dict[str, Callable[[Context], Awaitable[Result]]] = {
    "test_tool_with_logging": logs,
    "test_logging_tool": logs,
    "test_tool_with_progress": progresses,
    "test_reconnection": reconnects,
    "test_trigger_tool_change": changes,
    "test_trigger_prompt_change": changes_prompts,
}
ASKING = {
    "test_elicitation": ("", form(username=TEXT, email=TEXT)),
    "test_streaming_elicitation": ("Please choose", OK),
    "test_elicitation_sep1034_defaults": ("Please say who you are", DEFAULTS),
    "test_elicitation_sep1330_enums": ("Please choose", ENUMS),
}
SCHEMAS: dict[str, dict[str, Any]] = {
    "test_custom_headers": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "query": {"type": "string"},
        },
        "required": ["region"],
    },
    "json_schema_2020_12_tool": RICH,
    "test_elicitation": form(message=TEXT),
    "test_sampling": form(prompt=TEXT),
}


async def list_tools(
    context: Context, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    """List all tools."""
    del context, params
    names = [*PLAIN, *DOING, *ASKING, *ROUNDS, *OFFERED]
    tools = [
        types.Tool(
            name=name,
            description=f"Fixture of the conformance suite: {name}, {len(CHANGED)} changes.",
            input_schema=SCHEMAS.get(name, EMPTY),
            annotations=types.ToolAnnotations(read_only_hint=True),
        )
        for name in names
    ]
    return types.ListToolsResult(tools=tools)


async def call_tool(context: Context, params: types.CallToolRequestParams) -> Result:
    """Answer a call."""
    name = params.name
    if name in PLAIN:
        return PLAIN[name]
    if name in DOING:
        return await DOING[name](context)
    if name in ASKING:
        message, schema = ASKING[name]
        return await asks(context, message or str((params.arguments or {})["message"]), schema)
    if name in ROUNDS:
        return await ROUNDS[name](params)
    if name in OFFERED:
        return await OFFERED[name](context, params)
    raise MCPError(types.INVALID_PARAMS, f"unknown tool {name}")


async def complete(context: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """Complete nothing."""
    del context, params
    return types.CompleteResult(completion=types.Completion(values=[], total=0, has_more=False))


def fixtures() -> Server[Any]:
    """Return the server."""
    server: Server[Any] = Server(
        "fixtures",
        version="1",
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_subscribe_resource=watch,
        on_unsubscribe_resource=watch_no_longer,
        on_subscriptions_listen=ListenHandler(BUS),
    )
    security = RequestStateSecurity.ephemeral()
    server.middleware.append(RequestStateBoundary(security, default_audience="fixtures"))
    return server
