"""A session becomes a server: what a client calls becomes runs and calls.

Above: `lineshaft.mcp`. Below: sessions, and the servers whose resources are passed on.
"""

from lineshaft.mcp.front.definitions import front_instructions, front_tools
from lineshaft.mcp.front.front import Front
from lineshaft.mcp.front.http import HttpOptions, serve_http
from lineshaft.mcp.front.server import front_server
from lineshaft.mcp.front.stdio import serve_stdio

__all__ = [
    "Front",
    "HttpOptions",
    "front_instructions",
    "front_server",
    "front_tools",
    "serve_http",
    "serve_stdio",
]
