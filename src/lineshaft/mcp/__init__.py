"""MCP: in, servers become toolsets; out, a session becomes a server.

Names are loaded when they are first used: the SDK takes over half a second to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
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

_FILE_OF = {
    "Assertion": "_spec",
    "Authorize": "_spec",
    "Claim": "_spec",
    "Claims": "_spec",
    "HandleContent": "client",
    "Front": "front",
    "Grant": "_spec",
    "HttpOptions": "front",
    "McpServer": "client",
    "ServerOptions": "_spec",
    "ServerSpec": "_spec",
    "assertion_from_command": "client",
    "assertion_from_file": "client",
    "catalogue_hash": "_spec",
    "exchanged": "client",
    "front_instructions": "front",
    "front_server": "front",
    "front_tools": "front",
    "loopback": "client",
    "serve_http": "front",
    "serve_stdio": "front",
}

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
]


def __getattr__(name: str) -> object:
    file = _FILE_OF.get(name)
    if file is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{file}"), name)
    globals()[name] = value
    return value
