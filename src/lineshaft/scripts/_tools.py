"""The tools for scripts, which may come and go between runs."""

from collections.abc import Mapping
from typing import Protocol

from lineshaft.tools import Tool
from lineshaft.values import Finding, ToolSpec


class ToolSource(Protocol):
    """The tools of a session, as they are at each moment."""

    @property
    def scriptable(self) -> tuple[ToolSpec, ...]:
        """The tools that scripts know; the same tuple as long as they do not change."""
        ...

    async def ready(self, words: str) -> tuple[Finding, ...]:
        """Wait for the tools that a text speaks of, and say which of them are not to be had."""
        ...


class FixedTools:
    """Tools that stay as they are.

    Args:
        tools: By canonical name.
    """

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self.scriptable = tuple(t.spec for t in tools.values() if t.spec.scriptable)
        """The tools that scripts know."""

    async def ready(self, words: str) -> tuple[Finding, ...]:
        """Return at once: all of them are there."""
        del words
        return ()
