"""Search for tools by words."""

from lineshaft.tools.search.search import search_specs

__all__ = [
    "search_specs",
]
