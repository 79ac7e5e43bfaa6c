"""MCP: in, servers become toolsets; out, a session becomes a server.

Names are loaded when they are first used: the SDK takes over half a second to import.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.mcp._auth import loopback
    from lineshaft.mcp._results import Content
    from lineshaft.mcp._server import McpServer
    from lineshaft.mcp._spec import (
        Authorize,
        Claim,
        Claims,
        ServerOptions,
        ServerSpec,
        catalogue_hash,
    )

_FILE_OF = {
    "Authorize": "_spec",
    "Claim": "_spec",
    "Claims": "_spec",
    "Content": "_results",
    "McpServer": "_server",
    "ServerOptions": "_spec",
    "ServerSpec": "_spec",
    "catalogue_hash": "_spec",
    "loopback": "_auth",
}

__all__ = [
    "Authorize",
    "Claim",
    "Claims",
    "Content",
    "McpServer",
    "ServerOptions",
    "ServerSpec",
    "catalogue_hash",
    "loopback",
]


def __getattr__(name: str) -> object:
    file = _FILE_OF.get(name)
    if file is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{file}"), name)
    globals()[name] = value
    return value
