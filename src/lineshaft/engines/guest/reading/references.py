"""The meaning of a script's expression: a tool, a module, a function of the script, ..."""

import ast
from dataclasses import dataclass, field
from typing import Literal

from .catalogue import BUILTINS, HELPERS, MODULES, KnownTool, ToolNames
from .scopes import (
    DEFS,
    Binding,
    DefNode,
    NameScope,
    Outline,
)

_BUILT_IN_TYPES = (str, bytes, list, dict, set, tuple, int, float)
BUILT_IN_METHODS = frozenset(name for kind in _BUILT_IN_TYPES for name in dir(kind))
"""An attribute of one of these names is not taken for a method of the script's own classes."""

_BINDING = frozenset(
    {"__builtins__", "__main__", "builtins", "eval", "exec", "globals", "locals", "vars"}
)
"""Functions and modules by which any name may be bound."""

_DEEP = 40
"""Longer chains of names and attributes are not followed."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The meaning of a name or an attribute."""

    kind: Literal["tool", "module", "member", "missing", "builtin", "helper", "def", "lambda"]
    name: str
    """Canonical name of a tool, or the dotted name of anything else."""

    tool: KnownTool | None = None
    node: DefNode | ast.Lambda | None = None


@dataclass(slots=True)
class Resolver:
    """Finds the meaning of the expressions of one script; None where reading cannot tell."""

    outline: Outline
    known: ToolNames
    found: dict[ast.AST, Reference | None] = field(default_factory=dict[ast.AST, Reference | None])
    named: dict[tuple[NameScope, str], Reference | None] = field(
        default_factory=dict[tuple[NameScope, str], Reference | None]
    )
    depth: int = 0

    def ref(self, node: ast.expr) -> Reference | None:
        """Return the meaning of an expression."""
        if node not in self.found:
            self.found[node] = None  # a name that is bound to itself ends here
            self.depth += 1
            if self.depth < _DEEP:
                self.found[node] = self._ref(node)
            self.depth -= 1
        return self.found[node]

    def undefined(self, node: ast.Name) -> bool:
        """Return whether a name is unbound in the script and its surroundings."""
        name = node.id
        if self.known.has(name) or self.outline.binder(name, self.outline.scope(node)):
            return False
        return not any(self.known.member(m, name) or self._foreign(m) for m in self.outline.stars)

    @property
    def binds_unseen(self) -> bool:
        """Whether the script may bind names that reading cannot see."""
        outline = self.outline
        return "modules" in outline.attributes or any(n.id in _BINDING for n in outline.names)

    def _foreign(self, module: str) -> bool:
        return not self.known.is_module(module)

    def _ref(self, node: ast.expr) -> Reference | None:
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.IfExp(body=first, orelse=second):
                both = self.ref(first), self.ref(second)
                waiting = all(r and r.kind in ("tool", "def") for r in both)
                return both[0] if waiting else None
            case ast.Lambda():
                return Reference("lambda", "lambda", node=node)
            case ast.NamedExpr(value=value):
                return self.ref(value)
            case _:
                return None

    def _name(self, node: ast.Name) -> Reference | None:
        home = self.outline.binder(node.id, self.outline.scope(node))
        if home is None:
            return self._free(node.id)
        key = home, node.id
        if key not in self.named:
            self.named[key] = None
            found = [self._bound(node.id, b, home) for b in home.bindings[node.id]]
            same = all(f == found[0] for f in found)
            self.named[key] = found[0] if same else None
        return self.named[key]

    def _free(self, name: str) -> Reference | None:
        """Return the meaning of a name that the script does not bind."""
        if tool := self.known.flat.get(name):
            return Reference("tool", tool.name, tool=tool)
        if name in MODULES or self.known.is_module(name):
            return Reference("module", name)
        if name in HELPERS:
            return Reference("helper", name)
        for module in self.outline.stars:
            if tool := self.known.member(module, name):
                return Reference("tool", tool.name, tool=tool)
        return Reference("builtin", name) if name in BUILTINS else None

    def _bound(self, name: str, binding: Binding, home: NameScope) -> Reference | None:
        if binding.origin:
            module, _, member = binding.origin.partition(":")
            return self._member(module, member) if member else Reference("module", module)
        if isinstance(binding.node, DEFS):
            if home.is_class:
                return None
            return Reference("def", name, node=binding.node)
        value = binding.value
        if isinstance(value, ast.Name) and value.id == name:
            return self._free(name)  # `read_file = read_file` at the top
        if isinstance(value, ast.Name | ast.Attribute | ast.IfExp | ast.Lambda):
            return self.ref(value)
        return None

    def _attribute(self, node: ast.Attribute) -> Reference | None:
        base = self.ref(node.value)
        if base and base.kind == "module":
            return self._member(base.name, node.attr)
        return self._method(node.attr) if base is None else None

    def _member(self, module: str, name: str) -> Reference | None:
        if not self.known.is_module(module):
            return Reference("member", f"{module}.{name}")
        if tool := self.known.member(module, name):
            return Reference("tool", tool.name, tool=tool)
        inner = name if module == "tools" else f"{module}.{name}"
        if self.known.is_module(inner) and inner != "tools":
            return Reference("module", inner)
        if module == "tools" and name in HELPERS:
            return Reference("helper", name)
        if name.startswith("__") or (module == "tools" and name == "ToolError"):
            return None
        return Reference("missing", f"{module}.{name}")

    def _method(self, name: str) -> Reference | None:
        """Return the one method of the script's classes that has this name."""
        methods = self.outline.methods.get(name, [])
        if len(methods) != 1 or name in BUILT_IN_METHODS or name.startswith("__"):
            return None
        return Reference("def", name, node=methods[0])
