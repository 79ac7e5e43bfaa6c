"""The tools of a session, to look at."""

from collections.abc import Iterator, Mapping
from typing import Literal

from lineshaft.errors import ConfigError
from lineshaft.tools import Tool, describe, python_stubs, search_specs, typescript_stubs
from lineshaft.values import ToolSpec


class Catalogue(Mapping[str, ToolSpec]):
    """Facts about a session's tools, by canonical name."""

    def __init__(self, tools: Mapping[str, Tool]) -> None:
        self._specs = {name: tool.spec for name, tool in tools.items()}

    def __getitem__(self, name: str) -> ToolSpec:
        return self._specs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def search(self, words: str, limit: int = 10) -> tuple[ToolSpec, ...]:
        """Return the tools that fit the words best, best first."""
        return search_specs(tuple(self._specs.values()), words, limit=limit)

    def describe(self, name: str) -> str:
        """Return a tool's signature and description; `KeyError` where there is none."""
        return describe(self._specs[name])

    def stubs(self, language: Literal["python", "typescript"] = "python") -> str:
        """Return declarations of all tools.

        Raises:
            ConfigError: There are none in that language.
        """
        specs = tuple(self._specs.values())
        if language == "python":
            return python_stubs(specs)
        if language == "typescript":
            return typescript_stubs(specs)
        raise ConfigError(f"there are no stubs in {language!r}; ask for python or typescript")
