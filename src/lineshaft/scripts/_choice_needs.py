"""What reading a script for the small engine keeps at hand, and what it finds."""

import ast
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lineshaft.engines import Subset
from lineshaft.scripts._names_refs import Ref, Resolver

Kind = Literal["lacks", "differs", "doubt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Something that the small engine is not trusted with."""

    what: str
    line: int
    kind: Kind = "lacks"
    """It has no such thing; it does something else; it may be either."""

    @property
    def reason(self) -> str:
        """Construct and line, in a few words."""
        return f"line {self.line}: {self.what}"


class Sets(Protocol):
    """Knows which expressions give a set."""

    def has(self, node: ast.expr) -> bool:
        """Return whether an expression or a target stands for a set, as far as is known."""
        ...


@dataclass(slots=True)
class Reader:
    """One script, and what the small engine has."""

    resolver: Resolver
    subset: Subset
    needs: list[Need] = field(default_factory=list[Need])
    sets: Sets | None = None
    """The script's sets, once they were looked for."""

    _own: set[str] | None = None
    _looks: bool | None = None

    def need(self, node: ast.AST, what: str, kind: Kind = "lacks") -> None:
        """Note something at a node."""
        self.needs.append(Need(what=what, line=getattr(node, "lineno", 1), kind=kind))

    def feature(self, node: ast.AST, name: str, kind: Kind = "lacks") -> None:
        """Note a feature at a node, if the small engine does not have it."""
        if name in self.subset.lacks:
            self.need(node, name, kind)
        elif name in self.subset.differs:
            self.need(node, name, "differs")

    def doubt(self, node: ast.AST, name: str) -> None:
        """Note a feature at a node that may be used otherwise, if the engine has it otherwise."""
        if name in self.subset.lacks or name in self.subset.differs:
            self.need(node, name, "doubt")

    def above(self, node: ast.AST) -> ast.AST | None:
        """Return what a node stands in."""
        return self.resolver.reading.parents.get(node)

    def slot(self, node: ast.AST) -> str:
        """Return the field of its parent that a node stands in."""
        return self.resolver.reading.slots.get(node, ("", 0))[0]

    def ref(self, node: ast.expr) -> Ref | None:
        """Return what an expression stands for."""
        return self.resolver.ref(node)

    def named(self, node: ast.expr) -> str:
        """Return the name of a builtin, or the dotted name of a member of a module, or nothing."""
        if isinstance(node, ast.Name | ast.Attribute):
            ref = self.resolver.ref(node)
            if ref is not None and ref.kind in ("builtin", "member", "helper"):
                return ref.name
            if ref is None and isinstance(node, ast.Attribute) and (home := self.named(node.value)):
                return f"{home}.{node.attr}"
        return ""

    def is_own(self, name: str) -> bool:
        """Return whether objects of the script's own may have an attribute of this name."""
        if self._own is None:
            self._own = self._attributes()
        return name in self._own

    @property
    def looks_inside(self) -> bool:
        """Whether the script may ask objects for attributes by names that it puts together."""
        if self._looks is None:
            reading = self.resolver.reading
            asks = any(name.id in _ASKS for name in reading.names)
            self._looks = asks or any("__" in name.strip("_") for name in reading.attributes)
        return self._looks

    def _attributes(self) -> set[str]:
        reading = self.resolver.reading
        own = {
            name
            for name, nodes in reading.attributes.items()
            if any(isinstance(node.ctx, ast.Store) for node in nodes)
        }
        for scope in reading.inner.values():
            if scope.is_class:
                own.update(scope.bindings)
        for call in reading.calls:
            if self.named(call.func) == "collections.namedtuple":
                own.update(word for text in _texts(call) for word in text.replace(",", " ").split())
        return own


_ASKS = frozenset({"getattr", "hasattr", "setattr", "vars"})


def _texts(node: ast.AST) -> list[str]:
    return [
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    ]
