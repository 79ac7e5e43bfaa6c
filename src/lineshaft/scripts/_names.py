"""The names a script finds in scope, and what they stand for."""

import builtins
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from lineshaft.tools import script_name
from lineshaft.values import ToolSpec

MODULES = frozenset({"asyncio", "json", "math", "re", "datetime"})
"""Modules in scope without an import, beside `tools` and the namespaces."""

HELPERS = frozenset({"batched", "json_parse", "retry", "table"})
"""The functions that every script can use."""

WAITING_HELPERS = frozenset({"retry"})
"""Helpers that are awaited, and that take something that makes a call."""

IMPLIED = frozenset({"ToolError", "__name__", "__file__", "__doc__", "__builtins__"})

BUILTINS = frozenset(dir(builtins))
"""Names that full Python has everywhere; an engine may lack some of them."""


Made = TypeVar("Made")


class Recent(Generic[Made]):
    """Keeps what was made of the last few tuples of tools, which sessions use again and again.

    Args:
        make: Makes it.
    """

    def __init__(self, make: Callable[[Sequence[ToolSpec]], Made]) -> None:
        self._make = make
        self._kept: list[tuple[Sequence[ToolSpec], Made]] = []

    def get(self, specs: Sequence[ToolSpec]) -> Made:
        """Return what is made of some tools; a tuple is known again, as it cannot change."""
        for known, made in self._kept:
            if known is specs:
                return made
        made = self._make(specs)
        if isinstance(specs, tuple):
            self._kept = [(specs, made), *self._kept[: _KEPT - 1]]
        return made


_KEPT = 8


@dataclass(frozen=True, slots=True)
class Known:
    """Tools by the names that scripts use for them."""

    flat: Mapping[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    """Tools without a namespace."""

    spaces: Mapping[str, Mapping[str, ToolSpec]] = field(
        default_factory=dict[str, Mapping[str, ToolSpec]]
    )
    """Tools of each namespace, by the namespace as scripts spell it (`a.b`)."""

    @staticmethod
    def of(specs: Sequence[ToolSpec]) -> "Known":
        """Return the tools that a script may call, by name; kept for the same tuple."""
        return _KNOWN.get(specs)

    @staticmethod
    def make(specs: Sequence[ToolSpec]) -> "Known":
        """Return the tools that a script may call, by name."""
        flat: dict[str, ToolSpec] = {}
        spaces: dict[str, dict[str, ToolSpec]] = {}
        for spec in specs:
            if not spec.scriptable:
                continue
            space, _, name = script_name(spec.name).rpartition(".")
            (spaces.setdefault(space, {}) if space else flat)[name] = spec
        return Known(flat, spaces)

    def is_module(self, name: str) -> bool:
        """Return whether a dotted name is `tools`, a namespace or the start of one."""
        return name == "tools" or any(s == name or s.startswith(f"{name}.") for s in self.spaces)

    def member(self, module: str, name: str) -> ToolSpec | None:
        """Return the tool that a module has under a name."""
        return self.members(module).get(name)

    def members(self, module: str) -> Mapping[str, ToolSpec]:
        """Return the tools of `tools` or of a namespace, by name; of anything else none."""
        return self.flat if module == "tools" else self.spaces.get(module, {})

    def has(self, name: str) -> bool:
        """Return whether a name is in scope before the script binds anything."""
        return (
            name in self.flat
            or name in MODULES
            or name in HELPERS
            or name in IMPLIED
            or name in BUILTINS
            or self.is_module(name)
        )


_KNOWN = Recent(Known.make)
