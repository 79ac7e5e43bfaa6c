"""A real server of the official SDK: orders of a shop.

Run as a program: over standard streams, or at the port that is its first argument. Each further
argument names a tool that it has beside the others.
"""

import os
import sys

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver import Context
from mcp.types import ToolAnnotations

server = MCPServer("shop", version="1.0", instructions="Orders are numbered from 1.")


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def orders(customer: str) -> list[int]:
    """Return the numbers of a customer's orders."""
    return {"ada": [1, 2], "bob": [3]}.get(customer, [])


@server.tool(annotations=ToolAnnotations(read_only_hint=True))
def total(order: int) -> float:
    """Return what an order costs."""
    return {1: 10.5, 2: 4.5, 3: 7.0}[order]


@server.tool()
async def place(customer: str, ctx: Context) -> dict[str, object]:
    """Place an order, and tell with what the call came."""
    await ctx.report_progress(1, 2, "half way")
    return {"customer": customer, "meta": dict(ctx.request_context.meta or {})}


@server.tool()
def die() -> str:
    """End this server at once."""
    os._exit(7)


@server.tool()
async def wait() -> str:
    """Wait for a minute; say on standard error when it is cancelled."""
    try:
        await anyio.sleep(60)
    except BaseException:
        sys.stderr.write("the wait was cancelled\n")
        raise
    return "waited"


@server.tool()
def process() -> int:
    """Return the number of this server's process."""
    return os.getpid()


if __name__ == "__main__":
    for more in sys.argv[2:]:
        server.add_tool(process, name=more)
    if sys.argv[1:]:
        server.run("streamable-http", port=int(sys.argv[1]))
    else:
        server.run("stdio")
