"""Servers become toolsets: connected, listed, called, and connected again.

Above: `lineshaft.mcp`. Below: the SDK of MCP, and the processes that servers are.
"""

from lineshaft.mcp.client.asks import failed_results, refusals
from lineshaft.mcp.client.assertion import exchanged
from lineshaft.mcp.client.auth import loopback
from lineshaft.mcp.client.catalogue import CatalogueBuilder, ServerCatalogue, canonical, nobody_said
from lineshaft.mcp.client.connection import Listed
from lineshaft.mcp.client.provider import McpServer
from lineshaft.mcp.client.resources import COMPLETE, PROMPT, READ, WATCH, ServerResources
from lineshaft.mcp.client.results import BESIDE, HandleContent, ResultShape, decoded, too_large
from lineshaft.mcp.client.sources import assertion_from_command, assertion_from_file
from lineshaft.mcp.client.stdio import EDGE, Cut, Lines, id_between

__all__ = [
    "BESIDE",
    "COMPLETE",
    "EDGE",
    "PROMPT",
    "READ",
    "WATCH",
    "CatalogueBuilder",
    "Cut",
    "HandleContent",
    "Lines",
    "Listed",
    "McpServer",
    "ResultShape",
    "ServerCatalogue",
    "ServerResources",
    "assertion_from_command",
    "assertion_from_file",
    "canonical",
    "decoded",
    "exchanged",
    "failed_results",
    "id_between",
    "loopback",
    "nobody_said",
    "refusals",
    "too_large",
]
