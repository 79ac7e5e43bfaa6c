"""The runtime's own tools: how a script, or a model, finds out what there is."""

from collections.abc import Callable, Sequence
from typing import Any, TypedDict

from lineshaft.errors import ToolError
from lineshaft.session._handles import HandlePart, ResultHandles, Shown
from lineshaft.session._kept_results import KeptResults, ResultPart
from lineshaft.tools import Tool, detailed, search_specs, signature, spec_named
from lineshaft.values import Context, ToolSpec, beginning

_LONGEST = 500

Specs = Callable[[], Sequence[ToolSpec]]


class FoundTool(TypedDict):
    """One tool that a search found."""

    name: str
    signature: str
    description: str
    """Its first line."""


def runtime_tools(specs: Specs, results: KeptResults, handles: ResultHandles) -> tuple[Tool, ...]:
    """Return the runtime's own tools of a session.

    Args:
        specs: Gives the tools that are there now.
        results: Those that were too long for a model.
        handles: What handles in results stand for.
    """

    async def search_tools(words: str, limit: int = 10) -> list[FoundTool]:
        """Find tools by words; an empty list: nothing fits.

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
        spec = spec_named(specs(), name)
        if spec is None:
            raise ToolError("E_UNKNOWN_TOOL", f"there is no tool {name!r}")
        return detailed(spec)

    async def read_result(handle: str, start: int = 0, count: int = 50_000) -> ResultPart:
        """Return a part of a result that was too long to be shown whole.

        Args:
            handle: From the end of the result that was cut.
            start: Where the part begins, in characters from 0.
            count: The most characters of the part.
        """
        return await results.part(handle, start, count)

    async def show(image: str | dict[str, Any], context: Context) -> Shown:  # noqa: D417  `context` is no argument of a caller
        """Show an image of a result to the model that reads this script's result.

        Args:
            image: The image's handle, or the part of a result that has it. Four images of
                1,000,000 bytes each may be shown: png, jpeg, gif, webp.
        """
        return handles.show(image, context.run_id)

    async def read_handle(
        handle: str | dict[str, Any], start: int = 0, count: int = 100_000
    ) -> HandlePart:
        """Return a part of the bytes that a handle in a result stands for.

        Args:
            handle: The handle of an image, audio or binary resource, or the part of a result that
                has it.
            start: Where the part begins, in bytes from 0.
            count: The most bytes of the part.
        """
        return handles.part(handle, start, count)

    return (
        Tool.from_function(show, effect="read"),
        Tool.from_function(read_handle, effect="read"),
        Tool.from_function(search_tools, effect="read"),
        Tool.from_function(describe_tool, effect="read"),
        Tool.from_function(read_result, effect="read"),
    )
