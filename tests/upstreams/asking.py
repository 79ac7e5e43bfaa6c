"""A server of the older protocol that asks its client for a model, roots and forms. Raw JSON-RPC.

Each tool returns as text what came back, or what the client had declared when it connected.
"""

import json
import sys
from typing import Any

Json = dict[str, Any]

READS = {"readOnlyHint": True}
TEXT = {"type": "string"}
FORM = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
PICTURE = {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}
TOOLS: dict[str, Json] = {
    "declared": {},
    "think": {"text": TEXT, "more": {"type": "object"}},
    "where": {},
    "ask": {},
    "often": {},
}

declared: Json = {}
asked = 0


def send(message: Json) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive() -> Json:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def request(method: str, params: Json) -> Json:
    """Ask the client, and return what it answered."""
    global asked  # noqa: PLW0603  a program of its own
    asked += 1
    send({"id": f"a{asked}", "method": method, "params": params})
    while (message := receive()).get("id") != f"a{asked}":
        pass
    return {key: message[key] for key in ("result", "error") if key in message}


def think(arguments: Json) -> Json:
    content = {"type": "text", "text": arguments.get("text", "?")}
    asked = {"messages": [{"role": "user", "content": content}], "maxTokens": 20}
    return request("sampling/createMessage", asked | arguments.get("more", {}))


def call(name: str, arguments: Json) -> Any:
    match name:
        case "declared":
            return declared
        case "think":
            return think(arguments)
        case "where":
            return request("roots/list", {})
        case "ask":
            return request("elicitation/create", {"message": "?", "requestedSchema": FORM})
        case _:
            return [think({}) for _ in range(12)]


def answer(message: Json) -> Any:
    params = message.get("params", {})
    match message["method"]:
        case "initialize":
            declared.update(params["capabilities"])
            return {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "asking", "version": "1"},
            }
        case "tools/list":
            tools = [
                {
                    "name": name,
                    "description": "Asks.",
                    "annotations": READS,
                    "inputSchema": {"type": "object", "properties": members},
                }
                for name, members in TOOLS.items()
            ]
            return {"tools": tools}
        case "tools/call":
            said = json.dumps(call(params["name"], params.get("arguments", {})))
            return {"content": [{"type": "text", "text": said}]}
        case _:
            return None


def main() -> None:
    while True:
        message = receive()
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        if result is None:
            send({"id": message["id"], "error": {"code": -32601, "message": "no such method"}})
        else:
            send({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
