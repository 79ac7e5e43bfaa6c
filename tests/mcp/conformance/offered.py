"""Tools of the suite that ask for what only some clients offer: a model, roots."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from parts import ask, form, needs

Context = ServerRequestContext[Any, Any]
Result = types.CallToolResult | types.InputRequiredResult

NAME = form(name={"type": "string"})


def said(text: str) -> types.CallToolResult:
    """Return a result that is text."""
    return types.CallToolResult(content=[types.TextContent(text=text)])


def think(text: str, most: int) -> types.CreateMessageRequest:
    """Return a question to a model."""
    content = types.TextContent(text=text)
    message = types.SamplingMessage(role="user", content=content)
    params = types.CreateMessageRequestParams(messages=[message], max_tokens=most)
    return types.CreateMessageRequest(params=params)


def thought(given: Mapping[str, types.InputResponse], key: str) -> str | None:
    """Return what a model answered under a key."""
    found = given.get(key)
    if isinstance(found, types.CreateMessageResult) and found.content.type == "text":
        return found.content.text
    return None


async def samples(context: Context, params: types.CallToolRequestParams) -> Result:
    """Ask a model what the arguments say."""
    del context
    answer = thought(params.input_responses or {}, "prompt")
    if answer is None:
        return needs(prompt=think(str((params.arguments or {})["prompt"]), 100))
    return said(f"LLM response: {answer}")


async def asks_a_model(context: Context, params: types.CallToolRequestParams) -> Result:
    """Ask a model for a capital."""
    del context
    answer = thought(params.input_responses or {}, "capital_question")
    if answer is None:
        return needs(capital_question=think("What is the capital of France?", 100))
    return said(answer)


async def asks_for_roots(context: Context, params: types.CallToolRequestParams) -> Result:
    """Ask for the roots."""
    del context
    found = (params.input_responses or {}).get("client_roots")
    if not isinstance(found, types.ListRootsResult):
        return needs(client_roots=types.ListRootsRequest(params=types.RequestParams()))
    return said(", ".join(str(root.uri) for root in found.roots))


async def asks_for_all(context: Context, params: types.CallToolRequestParams) -> Result:
    """Ask for a form, a model's answer and the roots at once."""
    del context
    given = params.input_responses or {}
    if params.request_state != "all" or len(given) != len(ALL):
        return types.InputRequiredResult(input_requests=ALL, request_state="all")
    return said(f"{thought(given, 'greeting')}: {sorted(given)}")


ALL: dict[str, types.InputRequest] = {
    "user_name": ask("What is your name?", NAME),
    "greeting": think("Generate a greeting", 50),
    "client_roots": types.ListRootsRequest(params=types.RequestParams()),
}


async def asks_what_is_offered(context: Context, params: types.CallToolRequestParams) -> Result:
    """Ask for that of it which the client has declared."""
    offers = context.session.client_capabilities or types.ClientCapabilities()
    kinds = {
        "user_name": offers.elicitation,
        "greeting": offers.sampling,
        "client_roots": offers.roots,
    }
    asked = {key: ALL[key] for key, offered in kinds.items() if offered is not None}
    if asked and not params.input_responses:
        return types.InputRequiredResult(input_requests=asked)
    return said(f"asked: {sorted(asked)}")


async def lacks(context: Context, params: types.CallToolRequestParams) -> Result:
    """Need a model."""
    del params
    offers = context.session.client_capabilities
    if offers is not None and offers.sampling is not None:
        return said("there is a model")
    data: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
    raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "sampling is needed", data)


OFFERED: dict[str, Callable[[Context, types.CallToolRequestParams], Awaitable[Result]]] = {
    "test_sampling": samples,
    "test_input_required_result_sampling": asks_a_model,
    "test_input_required_result_list_roots": asks_for_roots,
    "test_input_required_result_multiple_inputs": asks_for_all,
    "test_input_required_result_capabilities": asks_what_is_offered,
    "test_missing_capability": lacks,
}
