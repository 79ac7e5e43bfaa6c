"""The names that a script finds in scope: tools, modules, helpers."""

import builtins
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MODULES = frozenset({"asyncio", "json", "math", "re", "datetime"})
"""Modules in scope without an import, beside `tools` and the namespaces."""

HELPERS = frozenset({"batched", "json_parse", "retry", "table"})
"""The functions that every script can use."""

WAITING_HELPERS = frozenset({"retry"})
"""Helpers that are awaited, and that take a function or awaitable that makes a call."""

IMPLIED = frozenset(
    {
        "ToolError",
        "__annotations__",
        "__builtins__",
        "__class__",
        "__doc__",
        "__file__",
        "__module__",
        "__name__",
        "__qualname__",
    }
)

BUILTINS = frozenset(dir(builtins))


@dataclass(frozen=True, slots=True)
class KnownTool:
    """A tool, as far as reading needs it."""

    name: str
    """Canonical."""

    positional: tuple[str, ...] = ()
    """Parameters that may be given by position, in order."""

    keys: tuple[str, ...] | None = None
    """Keys of its result, where that is a record without further keys."""

    hidden: bool = False
    """It is known by name only, and never proposed."""


@dataclass(frozen=True, slots=True)
class ToolNames:
    """Tools by the names that scripts use for them."""

    flat: Mapping[str, KnownTool] = field(default_factory=dict[str, KnownTool])
    """Tools without a namespace."""

    spaces: Mapping[str, Mapping[str, KnownTool]] = field(
        default_factory=dict[str, Mapping[str, KnownTool]]
    )
    """Tools of each namespace, by the namespace as scripts spell it (`a.b`)."""

    modules: frozenset[str] = frozenset({"tools"})
    """`tools`, each namespace, and the starts of their dotted names."""

    @staticmethod
    def of(entries: Iterable[Sequence[Any]]) -> "ToolNames":
        """Return tools from the host's description.

        Args:
            entries: For each its script name, canonical name, positional parameters, keys of its
                result, and whether it is hidden.
        """
        flat: dict[str, KnownTool] = {}
        spaces: dict[str, dict[str, KnownTool]] = {}
        modules = {"tools"}
        for script_name, canonical, positional, keys, hidden in entries:
            space, _, name = script_name.rpartition(".")
            found = KnownTool(canonical, tuple(positional), tuple(keys) if keys else None, hidden)
            (spaces.setdefault(space, {}) if space else flat)[name] = found
            while space:
                modules.add(space)
                space = space.rpartition(".")[0]
        return ToolNames(flat, spaces, frozenset(modules))

    def is_module(self, name: str) -> bool:
        """Return whether a dotted name is `tools`, a namespace or the start of one.

        A namespace is also in the module `tools`, as in `tools.github`.
        """
        return name.removeprefix("tools.") in self.modules

    def member(self, module: str, name: str) -> KnownTool | None:
        """Return the tool that a module has under a name."""
        return self.members(module).get(name)

    def members(self, module: str) -> Mapping[str, KnownTool]:
        """Return the tools of `tools` or of a namespace, by name; of anything else none."""
        return (
            self.flat if module == "tools" else self.spaces.get(module.removeprefix("tools."), {})
        )

    def has(self, name: str) -> bool:
        """Return whether a name is in scope before the script binds anything."""
        return (
            name in self.flat
            or name in MODULES
            or name in HELPERS
            or name in IMPLIED
            or name in BUILTINS
            or name in self.modules
        )


def shown(tools: Mapping[str, KnownTool]) -> dict[str, KnownTool]:
    """Return the tools that may be proposed, by name."""
    return {name: tool for name, tool in tools.items() if not tool.hidden}
