"""The tools that a server lists, page by page, and no more of them than memory should hold."""

import hashlib
import json
from collections.abc import Iterable, Mapping

import mcp_types as types

from lineshaft.mcp._text import DESCRIPTION
from lineshaft.values import Struct

MOST_TOOLS = 2_000
TOO_MANY_TOOLS = f"it lists more than {MOST_TOOLS:,} tools"
"""Why a tool is left out that came after those."""

_MOST_BYTES = 20_000_000
_LONGEST = 2 * DESCRIPTION


class Listing(Struct, frozen=True, kw_only=True):
    """The tools that a server listed."""

    tools: tuple[types.Tool, ...] = ()
    left_out: Mapping[str, str]
    ttl_seconds: float = 0
    """How long it holds, as the server says; 0 where it says nothing."""


class Pages:
    """Takes the pages of one list, until there is enough of it."""

    def __init__(self) -> None:
        self.tools: list[types.Tool] = []
        self.left_out: dict[str, str] = {}
        """Why tools are missing, by what the server calls them."""

        self.names: set[str] = set()
        """Of all that came, those included that are left out."""

        self._by_name: dict[str, types.Tool] = {}
        self._bytes = 0

    def take(self, page: Iterable[types.Tool]) -> bool:
        """Take a page; return whether another one may be asked for.

        Some servers repeat a page for ever: one that brings nothing new is the last.
        """
        known, listed = len(self.names), list(page)
        for tool in listed:
            self.names.add(tool.name)
            if len(self.tools) <= MOST_TOOLS and self._bytes <= _MOST_BYTES:
                short = _shortened(tool)
                if self._by_name.get(tool.name) == short:
                    continue  # the same once more
                self._by_name.setdefault(tool.name, short)
                self._bytes += _size(short)
                if self._bytes <= _MOST_BYTES:
                    self.tools.append(short)
            if self._bytes > _MOST_BYTES and len(self.left_out) <= MOST_TOOLS:
                reason = f"all its tools together have more than {_MOST_BYTES:,} bytes"
                self.left_out[tool.name[:_LONGEST]] = reason
        repeats = bool(listed) and len(self.names) == known
        return len(self.tools) <= MOST_TOOLS and self._bytes <= _MOST_BYTES and not repeats


def _shortened(tool: types.Tool) -> types.Tool:
    """Return a tool with no more words than are ever shown, and without pictures."""
    texts = {
        name: _short(text) for name in ("title", "description") if (text := getattr(tool, name))
    }
    return tool.model_copy(update={**texts, "icons": None, "meta": None})


def _short(text: str) -> str:
    """Cut a text; what was cut off still counts in the hash of the catalogue."""
    if len(text) <= _LONGEST:
        return text
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[:_LONGEST]}{digest}"


def _size(tool: types.Tool) -> int:
    schemas = (tool.input_schema, tool.output_schema, tool.annotations and tool.annotations.title)
    words = (tool.name, tool.title or "", tool.description or "")
    return sum(map(len, words)) + sum(len(json.dumps(each)) for each in schemas)
