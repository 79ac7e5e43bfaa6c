"""MCP: in, servers become toolsets; out, a session becomes a server.

Names are loaded when they are first used: the SDK takes over half a second to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.mcp._assertion import exchanged
    from lineshaft.mcp._assertion_sources import assertion_from_command, assertion_from_file
    from lineshaft.mcp._auth import loopback
    from lineshaft.mcp._front import Front
    from lineshaft.mcp._front_http import serve_http
    from lineshaft.mcp._front_options import HttpOptions
    from lineshaft.mcp._front_server import front_server
    from lineshaft.mcp._front_stdio import serve_stdio
    from lineshaft.mcp._front_words import front_instructions, front_tools
    from lineshaft.mcp._results import Content
    from lineshaft.mcp._server import McpServer
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

_FILE_OF = {
    "Assertion": "_spec",
    "Authorize": "_spec",
    "Claim": "_spec",
    "Claims": "_spec",
    "Content": "_results",
    "Front": "_front",
    "Grant": "_spec",
    "HttpOptions": "_front_options",
    "McpServer": "_server",
    "ServerOptions": "_spec",
    "ServerSpec": "_spec",
    "assertion_from_command": "_assertion_sources",
    "assertion_from_file": "_assertion_sources",
    "catalogue_hash": "_spec",
    "exchanged": "_assertion",
    "front_instructions": "_front_words",
    "front_server": "_front_server",
    "front_tools": "_front_words",
    "loopback": "_auth",
    "serve_http": "_front_http",
    "serve_stdio": "_front_stdio",
}

__all__ = [
    "Assertion",
    "Authorize",
    "Claim",
    "Claims",
    "Content",
    "Front",
    "Grant",
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
