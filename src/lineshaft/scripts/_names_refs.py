"""What an expression of a script stands for: a tool, a module, a function of the script, ..."""

import ast
from dataclasses import dataclass, field
from typing import Literal

from lineshaft.scripts._names import BUILTINS, HELPERS, MODULES, Known
from lineshaft.scripts._names_scopes import (
    DEFS,
    Binding,
    DefNode,
    Reading,
    Scope,
)
from lineshaft.values import ToolSpec

_BUILT_IN_TYPES = (str, bytes, list, dict, set, tuple, int, float)
BUILT_IN_METHODS = frozenset(name for kind in _BUILT_IN_TYPES for name in dir(kind))
"""An attribute of one of these names is not taken for a method of the script's own classes."""

_DEEP = 40
"""Longer chains of names and attributes are not followed."""


@dataclass(frozen=True, slots=True)
class Ref:
    """What a name or an attribute stands for."""

    kind: Literal["tool", "module", "member", "missing", "builtin", "helper", "def", "lambda"]
    name: str
    """Canonical name of a tool, or the dotted name of anything else."""

    spec: ToolSpec | None = None
    node: DefNode | ast.Lambda | None = None


@dataclass(slots=True)
class Resolver:
    """Says what the expressions of one script stand for; None where reading cannot tell."""

    reading: Reading
    known: Known
    found: dict[ast.AST, Ref | None] = field(default_factory=dict[ast.AST, Ref | None])
    named: dict[tuple[Scope, str], Ref | None] = field(
        default_factory=dict[tuple[Scope, str], Ref | None]
    )
    depth: int = 0

    def ref(self, node: ast.expr) -> Ref | None:
        """Return what an expression stands for."""
        if node not in self.found:
            self.found[node] = None  # a name that is bound to itself ends here
            self.depth += 1
            if self.depth < _DEEP:
                self.found[node] = self._ref(node)
            self.depth -= 1
        return self.found[node]

    def undefined(self, node: ast.Name) -> bool:
        """Return whether nothing binds a name: neither the script nor its surroundings."""
        name = node.id
        if self.known.has(name) or self.reading.binder(name, self.reading.scopes[node]):
            return False
        return not any(self.known.member(m, name) or self._foreign(m) for m in self.reading.stars)

    def _foreign(self, module: str) -> bool:
        return not self.known.is_module(module)

    def _ref(self, node: ast.expr) -> Ref | None:
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
                return Ref("lambda", "lambda", node=node)
            case ast.NamedExpr(value=value):
                return self.ref(value)
            case _:
                return None

    def _name(self, node: ast.Name) -> Ref | None:
        home = self.reading.binder(node.id, self.reading.scopes[node])
        if home is None:
            return self._free(node.id)
        key = home, node.id
        if key not in self.named:
            self.named[key] = None
            found = [self._bound(node.id, b, home) for b in home.bindings[node.id]]
            same = all(f == found[0] for f in found)
            self.named[key] = found[0] if same else None
        return self.named[key]

    def _free(self, name: str) -> Ref | None:
        """Return what a name stands for that the script does not bind."""
        if spec := self.known.flat.get(name):
            return Ref("tool", spec.name, spec=spec)
        if name in MODULES or self.known.is_module(name):
            return Ref("module", name)
        if name in HELPERS:
            return Ref("helper", name)
        for module in self.reading.stars:
            if spec := self.known.member(module, name):
                return Ref("tool", spec.name, spec=spec)
        return Ref("builtin", name) if name in BUILTINS else None

    def _bound(self, name: str, binding: Binding, home: Scope) -> Ref | None:
        if binding.origin:
            module, _, member = binding.origin.partition(":")
            return self._member(module, member) if member else Ref("module", module)
        if isinstance(binding.node, DEFS):
            if home.is_class:
                return None
            return Ref("def", name, node=binding.node)
        value = binding.value
        if isinstance(value, ast.Name) and value.id == name:
            return self._free(name)  # `read_file = read_file` at the top
        if isinstance(value, ast.Name | ast.Attribute | ast.IfExp | ast.Lambda):
            return self.ref(value)
        return None

    def _attribute(self, node: ast.Attribute) -> Ref | None:
        base = self.ref(node.value)
        if base and base.kind == "module":
            return self._member(base.name, node.attr)
        return self._method(node.attr) if base is None else None

    def _member(self, module: str, name: str) -> Ref | None:
        if not self.known.is_module(module):
            return Ref("member", f"{module}.{name}")
        if spec := self.known.member(module, name):
            return Ref("tool", spec.name, spec=spec)
        inner = name if module == "tools" else f"{module}.{name}"
        if self.known.is_module(inner) and inner != "tools":
            return Ref("module", inner)
        if module == "tools" and name in HELPERS:
            return Ref("helper", name)
        return None if name.startswith("__") else Ref("missing", f"{module}.{name}")

    def _method(self, name: str) -> Ref | None:
        """Return the one method of the script's classes that has this name."""
        methods = self.reading.methods.get(name, [])
        if len(methods) != 1 or name in BUILT_IN_METHODS or name.startswith("__"):
            return None
        return Ref("def", name, node=methods[0])
