"""Files of which a microagent's model has read a part alone: it may not write them as a whole.

A model that reads the beginning of a file, changes it and writes it back would shorten the file.
"""

import json
from collections.abc import Mapping
from typing import cast

from lineshaft.agents._loop import MOST_READ
from lineshaft.errors import LineshaftError
from lineshaft.tools import Tool
from lineshaft.values import Context, Failure


class PartialReads:
    """The files that one conversation knows in part.

    Args:
        context: Of the agent's call.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._paths: set[str] = set()

    async def note(
        self, tool: Tool, arguments: Mapping[str, object], value: object, shown: object
    ) -> None:
        """Note what a call has shown of a file.

        Args:
            tool: The tool that was called.
            arguments: Of the call.
            value: The result.
            shown: The same without secrets, as the model reads it.
        """
        path = await self._path(tool, arguments)
        if path is None or tool.spec.effect not in ("read", "write"):
            return
        cut = isinstance(value, Mapping) and cast("Mapping[str, object]", value).get("truncated")
        if tool.spec.effect == "read" and (cut is True or shown != value or _is_long(shown)):
            self._paths.add(path)
        elif cut is False or "content" in arguments:
            self._paths.discard(path)

    async def refusal(self, tool: Tool, arguments: Mapping[str, object]) -> Failure | None:
        """Return the refusal of a call that would write a whole file over one known in part."""
        if tool.spec.effect != "write" or "content" not in arguments:
            return None
        path = await self._path(tool, arguments)
        if path not in self._paths:
            return None
        text = f"you were shown only a part of {path!r}; the rest would be lost"
        hint = (
            "change it with edit_file, or read it to its end in parts and write it anew elsewhere"
        )
        return Failure("E_PRECONDITION_FAILED", text, hint, "refused")

    async def _path(self, tool: Tool, arguments: Mapping[str, object]) -> str | None:
        given = arguments.get("path")
        if ("path",) not in tool.spec.paths or not isinstance(given, str):
            return None
        try:
            return str((await self._context.workspace.resolve(given)).path)
        except LineshaftError:
            return None  # the call itself says why


def _is_long(value: object) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return len(text) > MOST_READ
