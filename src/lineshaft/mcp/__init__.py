"""MCP: in, servers become toolsets; out, a session becomes a server.

Above: configuration, the command line, users. Below: sessions and tools. The two halves have doors
of their own, `client` and `front`: to import one takes over half a second, which is the SDK's.
"""

from typing import TYPE_CHECKING, Unpack

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

if TYPE_CHECKING:
    from lineshaft.mcp.client import McpServer

__all__ = [
    "Assertion",
    "Authorize",
    "Claim",
    "Claims",
    "Grant",
    "ServerOptions",
    "ServerSpec",
    "catalogue_hash",
    "server",
]


def server(
    address: object, *, name: str | None = None, **options: Unpack[ServerOptions]
) -> "McpServer":
    """Return the tools of an MCP server, for a session to connect to.

    Args:
        address: The URL of a server, the command that starts one (a text or its words), a
            `ServerSpec`, or a server object of the `mcp` SDK in this process.
        name: The namespace of its tools; made from the server where left out.
        **options: See `lineshaft.mcp.ServerOptions`.

    Returns:
        A source, to be given to a session beside tools; nothing is connected before that.

    Raises:
        ConfigError: The server or its name cannot be used.
    """
    from lineshaft.mcp.client import McpServer  # noqa: PLC0415  loads the SDK

    return McpServer(address, name=name, **options)
