"""The tools of a session, to look at."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from lineshaft.errors import ConfigError
from lineshaft.tools import describe, python_stubs, search_specs, typescript_stubs
from lineshaft.values import ToolSpec


class Catalogue(Mapping[str, ToolSpec]):
    """Facts about a session's tools, by canonical name, as they are at each moment.

    Args:
        specs: Gives the tools that are there now.
    """

    def __init__(self, specs: Callable[[], tuple[ToolSpec, ...]]) -> None:
        self._now = specs
        self._known: tuple[ToolSpec, ...] = ()
        self._by_name: dict[str, ToolSpec] = {}

    @property
    def _specs(self) -> dict[str, ToolSpec]:
        if (specs := self._now()) is not self._known:
            self._known, self._by_name = specs, {spec.name: spec for spec in specs}
        return self._by_name

    def __getitem__(self, name: str) -> ToolSpec:
        return self._specs[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._specs)

    def __len__(self) -> int:
        return len(self._specs)

    def search(self, words: str, limit: int = 10) -> tuple[ToolSpec, ...]:
        """Return the tools that fit the words best, best first; none where nothing fits."""
        return search_specs(self._now(), words, limit=limit)

    def describe(self, name: str) -> str:
        """Return a tool's signature and description; `KeyError` where there is none."""
        return describe(self._specs[name])

    def stubs(self, language: Literal["python", "typescript"] = "python") -> str:
        """Return declarations of all tools.

        Raises:
            ConfigError: There are none in that language.
        """
        specs = self._now()
        if language == "python":
            return python_stubs(specs)
        if language == "typescript":
            return typescript_stubs(specs)
        raise ConfigError(f"there are no stubs in {language!r}; ask for python or typescript")
