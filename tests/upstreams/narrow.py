"""A server of the older protocol that knows no other first question. Raw JSON-RPC.

Arguments: `ends` (as servers of the Rust SDK do) or `silent`, and a file that takes what it is
asked, one method a line.
"""

import json
import sys
from pathlib import Path
from typing import Any

KIND, NOTES = sys.argv[1], Path(sys.argv[2])


def answer(id_: Any, result: dict[str, Any]) -> None:
    """Send a result."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": id_, "result": result}) + "\n")
    sys.stdout.flush()


for line in sys.stdin:
    message = json.loads(line)
    with NOTES.open("a") as notes:
        notes.write(f"{message['method']}\n")
    match message["method"]:
        case "initialize":
            info = {"name": "narrow", "version": "1"}
            can: dict[str, Any] = {"tools": {}}
            version = "2025-06-18"
            answer(
                message["id"],
                {"protocolVersion": version, "capabilities": can, "serverInfo": info},
            )
        case "tools/list":
            tool: dict[str, Any] = {
                "name": "end",
                "inputSchema": {"type": "object", "properties": {}},
            }
            answer(message["id"], {"tools": [tool, {**tool, "name": "fine"}]})
        case "tools/call" if message["params"]["name"] == "fine":
            answer(message["id"], {"content": [{"type": "text", "text": "fine"}]})
        case "notifications/initialized" | "notifications/cancelled":
            pass
        case _ if KIND == "silent" and message["method"] != "tools/call":
            pass
        case _:
            sys.exit("expected initialize")
