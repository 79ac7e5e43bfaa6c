"""A server with names, answers and lists out of the ordinary, all allowed or nearly so.

Raw JSON-RPC over its standard streams, in the older protocol.
"""

import json
import sys
from typing import Any

Json = dict[str, Any]

NUMBER: Json = {"type": "number", "multipleOf": 0.01}


def tool(name: str, properties: Json | None = None, **more: Any) -> Json:
    """Return a tool as it is listed."""
    return {"name": name, "inputSchema": {"type": "object", "properties": properties or {}}, **more}


TOOLS = [
    tool("admin.drop", annotations={"destructiveHint": True, "title": "Drop\u202e it"}),
    tool(
        "admin.list",
        annotations={"readOnlyHint": True, "openWorldHint": False},
        title="List admins",
    ),
    tool("dash-ed"),
    tool("print"),
    tool(""),
    tool("."),
    tool(
        "price",
        {"of": NUMBER},
        outputSchema={"type": "object", "properties": {"price": NUMBER}},
    ),
    tool("crowd"),
    tool("fails-with-data"),
    tool("fails-with-resource"),
    tool("logs"),
    tool("bad-notices"),
    tool("slow", execution={"taskSupport": "required"}),
    tool("slow-or-not", execution={"taskSupport": "optional"}),
]


class Refused(Exception):
    """The error that a request is answered with."""


def send(**message: Any) -> None:
    """Send a message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def called(name: str, arguments: Json) -> Json:
    """Return the result of a call."""
    words = {"type": "text", "text": name}
    match name:
        case "price":
            return {"content": [], "structuredContent": {"price": arguments["of"]}}
        case "crowd":
            return {"content": [words] * 10_001}
        case "fails-with-data":
            return {"content": [], "structuredContent": {"why": "no disk"}, "isError": True}
        case "fails-with-resource":
            held = {"uri": "file:///log", "text": "no disk"}
            return {"content": [{"type": "resource", "resource": held}], "isError": True}
        case "bad-notices":
            send(method="notifications/message", params={"level": "hunter-two", "data": "x"})
        case "logs":
            for level, data in (("debug", "fine"), ("warning", {"left": True}), ("error", "out")):
                params = {"level": level, "data": data}
                send(method="notifications/message", params=params)
        case _:
            pass
    return {"content": [words]}


CROWDS: Json = {
    "resources/list": ("resources", {"uri": "x://a", "name": "a"}),
    "resources/templates/list": ("resourceTemplates", {"uriTemplate": "x://{a}", "name": "a"}),
    "prompts/list": ("prompts", {"name": "a"}),
}
"""The entry that a page of a list has over and over, and the member that it stands in."""


def answer(method: str, params: Json) -> Json | None:
    """Return what a request is answered; None where it is not."""
    if method in CROWDS and params.get("cursor", "").isdigit():
        member, entry = CROWDS[method]
        return {member: [entry] * int(params["cursor"])}
    match method:
        case "initialize":
            return {
                "protocolVersion": "2025-06-18",
                "capabilities": {"tools": {}, "resources": {}, "prompts": {}, "logging": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            }
        case "tools/list":
            return {"tools": TOOLS}
        case "tools/call":
            return called(params["name"], params["arguments"])
        case "resources/list" if params.get("cursor") == "secret":
            text = "\x1b[2J no access with kumquat-marmalade-71" + " or not" * 2_000
            error = {"code": -32000, "message": text, "data": {"token": "kumquat-marmalade-71"}}
            raise Refused(error)
        case "resources/list":
            return {"resources": [{"uri": "x://nameless"}, {"uri": "x://a", "name": "a"}]}
        case "prompts/list":
            return {"prompts": "none"}
        case "logging/setLevel":
            return {}
        case _:  # resources/read and resources/templates/list hang
            return None


if __name__ == "__main__":
    for line in sys.stdin:
        message = json.loads(line)
        if message["method"] == "server/discover":
            send(id=message["id"], error={"code": -32601, "message": "no such method"})
        elif "id" in message:
            try:
                found = answer(message["method"], message.get("params", {}))
            except Refused as refused:
                send(id=message["id"], error=refused.args[0])
                continue
            if found is not None:
                send(id=message["id"], result=found)
