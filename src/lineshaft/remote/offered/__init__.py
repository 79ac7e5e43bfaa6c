"""Tools that the window of a workspace offers, as a provider of tools for sessions.

Above: configuration. Below: `remote/window`; the catalogue of MCP servers, whose SDK takes over
half a second to import, so that this is a door of its own.
"""

from lineshaft.remote.offered.provider import WindowTools

__all__ = ["WindowTools"]
