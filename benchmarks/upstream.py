"""An MCP server that does next to nothing, for figures of what stands before it."""

from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

app = MCPServer("upstream")


@app.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


if __name__ == "__main__":
    app.run()
