"""The world's tools for sessions: each run has a world of its own."""

import inspect
from collections import defaultdict
from typing import Any, get_type_hints

from corpora.world import EXTERNAL, TOOLS, WRITES, World, use
from lineshaft import Tool
from lineshaft.values import Context, Effect


class Worlds:
    """The worlds of a session's runs, by the ids of the runs."""

    def __init__(self) -> None:
        self._worlds: defaultdict[str, World] = defaultdict(World)

    def tools(self) -> list[Tool]:
        """Return the tools, typed as they are in the world."""
        return [self._tool(name) for name in TOOLS]

    def _tool(self, name: str) -> Tool:
        async def call(context: Context, **arguments: Any) -> Any:
            return await use(name, self._worlds[context.run_id], arguments)

        function = TOOLS[name]
        _, *parameters = inspect.signature(function).parameters.values()
        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)
        call.__signature__ = inspect.Signature([*parameters, context])  # pyright: ignore[reportFunctionMemberAccess]  read by `inspect`
        hints = get_type_hints(function)
        del hints["world"]
        call.__annotations__ = {**hints, "context": Context}
        return Tool.from_function(
            call, name=name, effect=_effect(name), description=function.__doc__ or "", lane=None
        )


def _effect(name: str) -> Effect:
    if name in WRITES:
        return "write"
    return "external" if name in EXTERNAL else "read"
