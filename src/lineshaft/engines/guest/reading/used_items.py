"""Calls in a generator expression whose items are used as results: nothing awaits them later."""

import ast
from dataclasses import dataclass

from .places import Places, goes_over_async
from .scopes import Outline

_HANDING_ON = frozenset({"iter", "list", "reversed", "set", "tuple"})
"""Functions whose result has the same items."""

_USING = frozenset({"all", "any", "max", "min", "sorted", "sum"})
"""Functions that use each item."""

_FAR = 20
"""Items handed on more often than this are not followed."""

_Way = tuple[int, ...]
"""The place of a call in an item: `(1,)` in `(name, call)`, empty where the call is the item."""


@dataclass(frozen=True, slots=True)
class UsedItems:
    """Follows the items of one script's generator expressions."""

    places: Places

    def has(self, call: ast.Call) -> bool:
        """Return whether a call is such an item, or stands in one.

        Only a use that a call without `await` cannot serve counts, so that its `await` breaks no
        script that works.
        """
        node: ast.expr = call
        way: _Way = ()
        above = self._outline.above(node)
        while isinstance(above, (ast.IfExp, ast.Tuple)):
            if isinstance(above, ast.Tuple):
                way = (self._outline.index(node), *way)
            if self._outline.field(node) == "test" or _has_star(above):
                return False
            node, above = above, self._outline.above(above)
        if not isinstance(above, ast.GeneratorExp) or above.elt is not node:
            return False
        return self._are_used(above, way, _FAR)

    @property
    def _outline(self) -> Outline:
        return self.places.resolver.outline

    def _are_used(self, node: ast.expr, way: _Way, far: int) -> bool:
        """Return whether the items of a value are used as results."""
        if not far:
            return False
        above = self._outline.above(node)
        match above:
            case ast.Call():
                return self._argument(above, node, way, far - 1)
            case ast.For() | ast.comprehension():
                is_plain = above.iter is node and not goes_over_async(above)
                return is_plain and self._target(above.target, way)
            case ast.Assign(targets=[ast.Tuple(elts=names) | ast.List(elts=names)]):
                return any(self._target(name, way) for name in names)
            case ast.Compare():
                return not way
            case ast.Subscript():
                return not way and above.value is node and self.places.of(above) == "value"
            case _:
                return any(self._are_used(use, way, far - 1) for use in self.places.uses(node))

    def _argument(self, call: ast.Call, node: ast.expr, way: _Way, far: int) -> bool:
        """Return whether a function uses the items of an argument, or what it gives is used."""
        ref = self.places.resolver.ref(call.func)
        if ref is None:
            is_join = isinstance(call.func, ast.Attribute) and call.func.attr == "join"
            return is_join and not way
        if ref.kind != "builtin" or self._outline.field(node) != "args" or _has_star(call):
            return False
        if ref.name in _USING and not way:
            return True
        if ref.name in _HANDING_ON or ref.name == "sorted":
            return self._are_used(call, way, far)
        if ref.name == "enumerate":
            return self._are_used(call, (1, *way), far)
        if ref.name == "zip":
            return self._are_used(call, (self._outline.index(node), *way), far)
        return False

    def _target(self, target: ast.expr, way: _Way) -> bool:
        """Return whether the name that gets a call is used as its result."""
        if isinstance(target, (ast.Tuple, ast.List)):
            if not way:
                return True
            is_known = not _has_star(target) and way[0] < len(target.elts)
            return is_known and self._target(target.elts[way[0]], way[1:])
        if way or not isinstance(target, ast.Name):
            return False
        home = self._outline.binder(target.id, self._outline.scope(target))
        if home is None or self.places.name(target.id, home) != "value":
            return False
        uses = self._outline.uses.get((home, target.id), ())
        is_put_away = any(self.places.of(use) == "kept" for use in uses)
        return not is_put_away or any(map(self._is_opened, uses))

    def _is_opened(self, use: ast.expr) -> bool:
        """Return whether a value is asked for a part of it, which a call without `await` lacks."""
        above = self._outline.above(use)
        is_part = isinstance(above, (ast.Attribute, ast.Subscript)) and above.value is use
        return is_part and self.places.of(use) == "value"


def _has_star(node: ast.IfExp | ast.Tuple | ast.List | ast.Call) -> bool:
    if isinstance(node, ast.IfExp):
        return False
    inside = node.args if isinstance(node, ast.Call) else node.elts
    return any(isinstance(each, ast.Starred) for each in inside)
