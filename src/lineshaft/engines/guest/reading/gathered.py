"""Search for the later `await` of calls that are stored, in a list or by `map`."""

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .places import KEEPING, Place, Places
from .references import Reference
from .scopes import NameScope

Gathering = Literal["yes", "unknown", "no"]

_WRAPPERS = frozenset(
    Reference("builtin", name)
    for name in ("dict", "enumerate", "iter", "list", "reversed", "set", "tuple", "zip")
)
_VIEWS = frozenset({"copy", "items", "values"})
_FAR = 30
"""Collections handed on more often than this are not followed."""


@dataclass(slots=True)
class Gathered:
    """Follows the collections of one script."""

    places: Places
    sites: Mapping[ast.AST, Sequence[ast.Call]]
    """Direct calls of each function."""

    named: dict[tuple[NameScope, str], Gathering] = field(
        default_factory=dict[tuple[NameScope, str], Gathering]
    )
    returned: dict[ast.AST, Gathering] = field(default_factory=dict[ast.AST, Gathering])
    depth: int = 0

    def of(self, node: ast.expr) -> Gathering:
        """Return whether the calls that an expression holds are awaited."""
        if self.depth >= _FAR:
            return "unknown"
        self.depth += 1
        try:
            return self._of(node, self.places.resolver.outline.above(node))
        finally:
            self.depth -= 1

    def _of(self, node: ast.expr, above: ast.AST) -> Gathering:
        match above:
            case ast.Call():
                return self._argument(above, node)
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                targets = above.targets if isinstance(above, ast.Assign) else [above.target]
                return _either(self._target(target) for target in targets)
            case ast.For() | ast.comprehension():
                return self._looped(above) if above.iter is node else "no"
            case ast.Subscript() | ast.Attribute():
                return self._part(above)
            case ast.Return():
                return self._result(above)
            case ast.keyword():
                return self._keyword(above)
            case _:
                return self._inside(above)

    def _inside(self, above: ast.AST) -> Gathering:
        if isinstance(above, (ast.Starred, ast.BinOp, ast.BoolOp, ast.IfExp, *KEEPING)):
            return self.of(above)
        return "yes" if isinstance(above, ast.Await) else "no"

    def _keyword(self, above: ast.keyword) -> Gathering:
        """Return how a function uses what it gets by keyword: `dict(a=f())` is as `{"a": f()}`."""
        call = self.places.resolver.outline.above(above)
        is_call = isinstance(call, ast.Call)
        is_wrapped = is_call and self.places.resolver.ref(call.func) in _WRAPPERS
        return self.of(call) if is_call and is_wrapped else "unknown"

    def _argument(self, call: ast.Call, node: ast.expr) -> Gathering:
        """Return how a function uses a collection, or one call."""
        if call.func is node:
            return "no"
        ref = self.places.resolver.ref(call.func)
        if ref is None:
            is_method = isinstance(call.func, ast.Attribute)
            return self._target(call.func) if is_method else "unknown"
        if ref in _WRAPPERS:
            return self.of(call)
        if ref.name.startswith("asyncio."):
            return "yes"
        return "unknown" if ref.kind == "def" else "no"

    def _target(self, target: ast.expr) -> Gathering:
        """Return whether the calls stored under a name, or in a part of it, are awaited."""
        while isinstance(target, (ast.Subscript, ast.Attribute)):
            target = target.value
        if not isinstance(target, ast.Name):
            return "unknown"
        outline = self.places.resolver.outline
        home = outline.binder(target.id, outline.scope(target))
        if home is None:
            return "unknown"
        key = home, target.id
        if key not in self.named:
            self.named[key] = "no"  # a name of itself ends here
            self.named[key] = _either(self.of(use) for use in outline.uses.get(key, ()))
        return self.named[key]

    def _looped(self, loop: ast.For | ast.comprehension) -> Gathering:
        """Return whether a loop awaits the items that it goes over."""
        if isinstance(loop.target, ast.Name):
            used = self._used(loop.target)
        else:
            names = (each for each in ast.walk(loop.target) if isinstance(each, ast.Name))
            is_awaited = any(self._used(name) in ("awaited", "asyncio") for name in names)
            used = "awaited" if is_awaited else "kept"
        if used in ("awaited", "asyncio"):
            return "yes"
        return "unknown" if used == "kept" else "no"

    def _used(self, target: ast.Name) -> Place:
        outline = self.places.resolver.outline
        home = outline.binder(target.id, outline.scope(target))
        return self.places.name(target.id, home) if home else "other"

    def _part(self, above: ast.Subscript | ast.Attribute) -> Gathering:
        if isinstance(above, ast.Subscript):
            is_read = isinstance(above.ctx, ast.Load)
            return "yes" if is_read and self.places.of(above) in ("awaited", "asyncio") else "no"
        call = self.places.resolver.outline.above(above)
        if isinstance(call, ast.Call) and call.func is above and above.attr in _VIEWS:
            return self.of(call)
        return "no"

    def _result(self, node: ast.Return) -> Gathering:
        """Return how the callers of a function use its result."""
        function = self.places.resolver.outline.scope(node).function.node
        if isinstance(function, ast.Module):
            return "no"
        if function not in self.returned:
            self.returned[function] = "no"  # a function that calls itself ends here
            sites = self.sites.get(function, ())
            self.returned[function] = _either(map(self.of, sites)) if sites else "unknown"
        return self.returned[function]


def _either(found: Iterable[Gathering]) -> Gathering:
    kinds = set(found)
    if "yes" in kinds:
        return "yes"
    return "unknown" if "unknown" in kinds else "no"
