"""MCP: in, servers become toolsets; out, a session becomes a server.

Above: configuration, the command line, users. Below: sessions and tools. To import it takes over
half a second, which is the SDK's: rooms above do so where a server is started or served.
"""

from lineshaft.mcp._spec import (
    Assertion,
    Authorize,
    Claim,
    Claims,
    Grant,
    ServerOptions,
    ServerSpec,
    catalogue_hash,
)
from lineshaft.mcp.client import (
    HandleContent,
    McpServer,
    assertion_from_command,
    assertion_from_file,
    exchanged,
    loopback,
    server,
)
from lineshaft.mcp.front import (
    Front,
    HttpOptions,
    front_instructions,
    front_server,
    front_tools,
    serve_http,
    serve_stdio,
)

__all__ = [
    "Assertion",
    "Authorize",
    "Claim",
    "Claims",
    "Front",
    "Grant",
    "HandleContent",
    "HttpOptions",
    "McpServer",
    "ServerOptions",
    "ServerSpec",
    "assertion_from_command",
    "assertion_from_file",
    "catalogue_hash",
    "exchanged",
    "front_instructions",
    "front_server",
    "front_tools",
    "loopback",
    "serve_http",
    "serve_stdio",
    "server",
]
