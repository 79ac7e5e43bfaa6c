"""The names a script finds in scope, and what they stand for."""

import builtins
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from lineshaft.tools import script_name
from lineshaft.values import ToolSpec

MODULES = frozenset({"asyncio", "json", "math", "re", "datetime"})
"""Modules in scope without an import, beside `tools` and the namespaces."""

HELPERS = frozenset({"attempt", "batched", "json_parse", "retry", "table"})
"""The functions that every script can use."""

WAITING_HELPERS = frozenset({"attempt", "retry"})
"""Helpers that are awaited, and that take a call or something that makes one."""

IMPLIED = frozenset({"ToolError", "__name__", "__file__", "__doc__", "__builtins__"})

BUILTINS = frozenset(dir(builtins))
"""Names that full Python has everywhere; an engine may lack some of them."""


@dataclass(frozen=True, slots=True)
class Known:
    """Tools by the names that scripts use for them."""

    flat: Mapping[str, ToolSpec] = field(default_factory=dict[str, ToolSpec])
    """Tools without a namespace."""

    spaces: Mapping[str, Mapping[str, ToolSpec]] = field(
        default_factory=dict[str, Mapping[str, ToolSpec]]
    )
    """Tools of each namespace, by the namespace as scripts spell it (`a.b`)."""

    @classmethod
    def of(cls, specs: Sequence[ToolSpec]) -> "Known":
        """Return the tools that a script may call, by name."""
        flat: dict[str, ToolSpec] = {}
        spaces: dict[str, dict[str, ToolSpec]] = {}
        for spec in specs:
            if not spec.scriptable:
                continue
            space, _, name = script_name(spec.name).rpartition(".")
            (spaces.setdefault(space, {}) if space else flat)[name] = spec
        return cls(flat, spaces)

    def is_module(self, name: str) -> bool:
        """Return whether a dotted name is `tools`, a namespace or the start of one."""
        return name == "tools" or any(s == name or s.startswith(f"{name}.") for s in self.spaces)

    def member(self, module: str, name: str) -> ToolSpec | None:
        """Return the tool that a module has under a name."""
        tools = self.flat if module == "tools" else self.spaces.get(module, {})
        return tools.get(name)

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


def script_names(
    specs: Sequence[ToolSpec],
) -> tuple[frozenset[str], Mapping[str, frozenset[str]]]:
    """Return the tools of a script, and those of each namespace, as it spells them."""
    known = Known.of(specs)
    return frozenset(known.flat), {s: frozenset(tools) for s, tools in known.spaces.items()}
