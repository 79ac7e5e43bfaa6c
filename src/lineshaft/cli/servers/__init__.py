"""MCP servers as a person sees them: listed, approved, brought in."""

from lineshaft.cli.servers.approval import told_lines
from lineshaft.cli.servers.importing import import_all, importable, not_yet_ours
from lineshaft.cli.servers.rows import Row, client_rows, own_rows, row_lines

__all__ = [
    "Row",
    "client_rows",
    "import_all",
    "importable",
    "not_yet_ours",
    "own_rows",
    "row_lines",
    "told_lines",
]
