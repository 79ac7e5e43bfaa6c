"""A real server with hundreds of tools: those of the corpus for searches. Over standard streams."""

import json
from pathlib import Path
from typing import Any

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolResult, ListToolsResult, TextContent, Tool

CORPUS = Path(__file__).parents[1] / "corpora" / "search" / "tools.json"


def tools() -> list[Tool]:
    """Return all tools of the corpus, of one server now."""
    return [
        Tool(
            name=tool["name"].replace(".", "_"),
            description=tool["description"],
            input_schema=tool["inputSchema"],
        )
        for tool in json.loads(CORPUS.read_text(encoding="utf-8"))
    ]


async def listed(*_: Any) -> ListToolsResult:
    """List them all at once."""
    return ListToolsResult(tools=tools())


async def called(_: Any, params: Any) -> CallToolResult:
    """Answer any call with text that is JSON."""
    text = json.dumps([{"id": 1, "name": params.name}])
    return CallToolResult(content=[TextContent(type="text", text=text)])


async def main() -> None:
    """Serve until the client has gone."""
    server: Any = Server("wide", on_list_tools=listed, on_call_tool=called)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


if __name__ == "__main__":
    anyio.run(main)
