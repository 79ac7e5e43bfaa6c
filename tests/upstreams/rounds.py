"""A server of the newest protocol that asks its client for a model, roots and forms."""

import json
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server

from lineshaft.mcp import server as mcp_server
from lineshaft.mcp.client import McpServer

Asked = ServerRequestContext[Any, Any]
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
NAME = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
ROOTS = types.ListRootsRequest(params=types.RequestParams())
LARGE = 4_000_001


def think(text: str, **more: Any) -> types.CreateMessageRequest:
    message = types.SamplingMessage(role="user", content=types.TextContent(text=text))
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=20, **more)
    return types.CreateMessageRequest(params=params)


def picture() -> types.CreateMessageRequest:
    content = types.ImageContent(data="aGVsbG8=", mime_type="image/png")
    message = types.SamplingMessage(role="user", content=content)
    return types.CreateMessageRequest(
        params=types.CreateMessageRequestParams(messages=[message], max_tokens=20)
    )


def form(message: str) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=message, requested_schema=NAME)
    return types.ElicitRequest(params=params)


HAMMER = types.Tool(name="hammer", input_schema=EMPTY)
ROUNDS: dict[str, dict[str, types.InputRequest]] = {
    "think": {"thought": think("why\x1b[2J?", system_prompt="be \u202ebrief", temperature=0.5)},
    "look": {"thought": picture()},
    "where": {"roots": ROOTS},
    "all": {"name": form("who?"), "thought": think("why?"), "roots": ROOTS},
    "forms": {"one": form("first?"), "other": form("second?")},
    "large": {"thought": think("x" * LARGE)},
    "tools": {"thought": think("why?", tools=[HAMMER])},
    "many": {f"t{number}": think("why?") for number in range(11)},
}
NEEDS: dict[str, Any] = {
    "needs": {"requiredCapabilities": {"sampling": {}}, "more": "x" * 10_000},
    "needs_much": {"requiredCapabilities": {"experimental": {"x" * 10_000: {}}}},
    "needs_nothing": None,
}


async def call_tool(
    context: Asked, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    """Ask for what the tool's name says, and return what came back."""
    offers = context.session.client_capabilities
    if params.name in NEEDS:
        data = NEEDS[params.name]
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "a model \x1bis needed", data)
    if params.name == "refuses":
        raise MCPError(types.INVALID_PARAMS, "not like this")
    if params.name == "declared":
        assert offers is not None
        text = offers.model_dump_json(by_alias=True, exclude_none=True)
        return types.CallToolResult(content=[types.TextContent(text=text)])
    if not params.input_responses:
        return types.InputRequiredResult(input_requests=ROUNDS[params.name], request_state="s")
    answers = {
        key: each.model_dump(by_alias=True, mode="json", exclude_none=True)
        for key, each in params.input_responses.items()
    }
    return types.CallToolResult(content=[types.TextContent(text=json.dumps(answers))])


async def list_tools(
    context: Asked, params: types.PaginatedRequestParams | None
) -> types.ListToolsResult:
    del context, params
    names = [*ROUNDS, *NEEDS, "refuses", "declared"]
    reads = types.ToolAnnotations(read_only_hint=True)
    return types.ListToolsResult(
        tools=[types.Tool(name=name, input_schema=EMPTY, annotations=reads) for name in names]
    )


def newer() -> McpServer:
    """Return a server of the newest protocol, in this process."""
    server = Server("newer", on_list_tools=list_tools, on_call_tool=call_tool)
    return mcp_server(server, name="up", trust=True)
