"""The runtime's own tools: how a script, or a model, finds out what there is."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypedDict

from lineshaft.errors import ToolError
from lineshaft.tools import Tool, detailed, search_specs, signature
from lineshaft.values import ToolSpec, beginning

_LONGEST = 500

Specs = Callable[[], Sequence[ToolSpec]]


class FoundTool(TypedDict):
    """One tool that a search found."""

    name: str
    signature: str
    description: str
    """Its first line."""


def runtime_tools(specs: Specs) -> tuple[Tool, ...]:
    """Return `search_tools` and `describe_tool` over a session's tools.

    Args:
        specs: Gives the tools that are there now.
    """

    async def search_tools(words: str, limit: int = 10) -> list[FoundTool]:
        """Find tools by words.

        Args:
            words: What the tool should do, in a few words.
            limit: How many to return at most.
        """
        found = search_specs(specs(), words, limit=limit)
        return [
            FoundTool(
                name=spec.name,
                signature=signature(spec),
                description=beginning(spec.description.partition("\n")[0], _LONGEST),
            )
            for spec in found
        ]

    async def describe_tool(name: str) -> str:
        """Return a tool's signature and its whole description.

        Args:
            name: The tool's name, such as `read_file`.
        """
        known: Mapping[str, ToolSpec] = {spec.name: spec for spec in specs()}
        if name not in known:
            raise ToolError("E_UNKNOWN_TOOL", f"there is no tool {name!r}")
        return detailed(known[name])

    return (
        Tool.from_function(search_tools, effect="read"),
        Tool.from_function(describe_tool, effect="read"),
    )
