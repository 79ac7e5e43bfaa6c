"""Files of which a microagent's model has read a part alone: it may not write them as a whole.

A model that reads the beginning of a file, changes it and writes it back would shorten the file.
"""

import json
from collections.abc import Mapping
from typing import Literal, cast

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
        self._known: set[str] = set()
        """Files that it has read or written as a whole: a window shows no less of them."""

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
        if path is None:
            return
        if tool.spec.effect == "write" and "content" in arguments:
            self._know(path)
        if tool.spec.effect != "read":
            return
        lines = _lines_in(value)
        if lines == "cut" or shown != value or _is_long(shown):
            self._paths.add(path)
        elif lines == "all":
            self._know(path)
        elif lines == "some" and path not in self._known:
            self._paths.add(path)

    def _know(self, path: str) -> None:
        self._paths.discard(path)
        self._known.add(path)

    async def refusal(self, tool: Tool, arguments: Mapping[str, object]) -> Failure | None:
        """Return the refusal of a call that would write a whole file over one known in part."""
        if tool.spec.effect != "write" or "content" not in arguments:
            return None
        path = await self._path(tool, arguments)
        if path not in self._paths:
            return None
        text = f"you were shown only a part of {path!r}; the rest would be lost"
        hint = (
            "change it with edit_file, or read all of it at once; what is too long for that, read "
            "in parts and write anew elsewhere"
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


def _lines_in(value: object) -> Literal["all", "some", "cut", "none"]:
    """Return how much of a file's text a result has; `none`: it is no file's text."""
    if not isinstance(value, Mapping):
        return "none"
    told = cast("Mapping[str, object]", value)
    if told.get("truncated") is True:
        return "cut"
    if "content" not in told or told.get("truncated") is not False:
        return "none"
    whole = told.get("start", 1) == 1 and told.get("end") == told.get("total_lines")
    return "all" if whole else "some"


def _is_long(value: object) -> bool:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return len(text) > MOST_READ
