"""The use of a value in its place: used, awaited, handed on, stored.

The rule about a forgotten `await` asks this of every call that has to be awaited.
"""

import ast
import sys
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeGuard

from .catalogue import WAITING_HELPERS
from .references import Reference, Resolver
from .scopes import DefNode, NameScope

Place = Literal["awaited", "asyncio", "kept", "value", "returned", "other"]
"""Awaited; given to asyncio; put in a collection; used as a value; returned; none of these."""

_ADDERS = frozenset(
    {"add", "append", "appendleft", "insert", "push", "put", "put_nowait", "setdefault"}
)
_SPAWNERS = frozenset(
    {"create_task", "ensure_future", "run_until_complete", "start_soon", "submit", "wait_for"}
)
_TAKERS = frozenset(
    {name for kind in (str, list, dict, set) for name in dir(kind)}
    | {"executemany", "extendleft", "from_iterable", "subtract", "writelines", "writerows"}
).difference(_ADDERS)
"""Methods of the built-in types, and a few of others, that use their arguments."""

_STORING = frozenset({"dict", "types.SimpleNamespace"})
"""Functions that keep what they get by keyword."""

_USING = frozenset({"functools.reduce"})
"""Functions of the modules below that use their arguments."""

_LIVE_MODULES = frozenset({"asyncio", "anyio", "concurrent", "contextlib", "functools", "inspect"})
"""Modules whose functions may want a coroutine."""

_VALUE_FIELDS: dict[type[ast.AST], Collection[str]] = {
    ast.Expr: ("value",),
    ast.BinOp: ("left", "right"),
    ast.UnaryOp: ("operand",),
    ast.Compare: ("left", "comparators"),
    ast.Subscript: ("value", "slice"),
    ast.Slice: ("lower", "upper", "step"),
    ast.Starred: ("value",),
    ast.For: ("iter",),
    ast.comprehension: ("iter", "ifs"),
    ast.If: ("test",),
    ast.While: ("test",),
    ast.Assert: ("test", "msg"),
    ast.IfExp: ("test",),
    ast.Match: ("subject",),
    ast.FormattedValue: ("value",),
    ast.AugAssign: ("value",),
    ast.withitem: ("context_expr",),
}
"""Places in which a value is used at once, by the node above it."""

if sys.version_info >= (3, 14):
    _VALUE_FIELDS[ast.Interpolation] = ("value",)  # of a t-string

KEEPING = (
    ast.Tuple,
    ast.List,
    ast.Set,
    ast.Dict,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
)

_STRENGTH: tuple[Place, ...] = ("awaited", "asyncio", "value", "kept", "returned", "other")
"""Of several uses of one name, the first of these decides."""

_DEEP = 20
"""Names handed on more often than this are not followed."""


@dataclass(slots=True)
class Places:
    """Finds the places of the expressions of one script."""

    resolver: Resolver
    named: dict[tuple[NameScope, str], Place] = field(
        default_factory=dict[tuple[NameScope, str], Place]
    )
    depth: int = 0

    def of(self, node: ast.expr) -> Place:
        """Return the use of an expression's value."""
        if self.depth >= _DEEP:
            return "other"
        self.depth += 1
        try:
            return self._of(node)
        finally:
            self.depth -= 1

    def _of(self, node: ast.expr) -> Place:
        above = self.resolver.outline.above(node)
        if self.resolver.outline.field(node) in _VALUE_FIELDS.get(type(above), ()):
            return "other" if self._is_async(node, above) else "value"
        match above:
            case ast.Attribute(attr=name):
                is_driven = _is_of_coroutines(name) or self._is_begun(above)
                return "awaited" if is_driven else "value"
            case ast.Await() | ast.Return() | ast.Lambda():
                return "awaited" if isinstance(above, ast.Await) else "returned"
            case ast.IfExp():
                return self.of(above)
            case ast.BoolOp():
                return self._operand(node, above)
            case ast.Call():
                return self._argument(above, node, None)
            case ast.keyword():
                return self._keyword(above, node)
            case _:
                return self._stored(node, above)

    def _is_begun(self, attribute: ast.Attribute) -> bool:
        """Return whether a script runs a coroutine by hand: `c.send(None)`."""
        match self.resolver.outline.above(attribute):
            case ast.Call(func=func, args=[ast.Constant(value=None)]):
                return func is attribute and attribute.attr == "send"
            case _:
                return False

    def _operand(self, node: ast.expr, above: ast.BoolOp) -> Place:
        """Return the place of an operand of `and` and `or`, which hand the last one on."""
        place = self.of(above)
        return place if node is above.values[-1] or place == "awaited" else "value"

    def _is_async(self, node: ast.expr, above: ast.AST) -> bool:
        """Return whether a loop or `with` waits for more than a value."""
        if isinstance(above, ast.withitem):
            return isinstance(self.resolver.outline.above(above), ast.AsyncWith)
        return goes_over_async(above) and above.iter is node

    def _stored(self, node: ast.expr, above: ast.AST) -> Place:
        match above:
            case ast.Assign(targets=targets):
                return _strongest(self._target(t) for t in targets)
            case ast.AnnAssign(target=target) if above.value is node:
                return self._target(target)
            case ast.NamedExpr(target=target):
                onward = self.of(above)
                return self._target(target) if onward in ("kept", "other") else onward
            case ast.Tuple() | ast.List():
                return self._element(node, above)
            case ast.Dict(keys=keys) if keys[self.resolver.outline.index(node)] is None:
                return "value"  # `{**f()}`
            case _:
                return "kept" if isinstance(above, KEEPING) else "other"

    def _element(self, node: ast.expr, above: ast.Tuple | ast.List) -> Place:
        """Return the place of an element, or of the name that gets it: `a, b = f(), g()`."""
        match self.resolver.outline.above(above):
            case ast.Assign(
                targets=[ast.Tuple(elts=names) | ast.List(elts=names)], value=value
            ) if value is above and len(names) == len(above.elts):
                return self._target(names[self.resolver.outline.index(node)])
            case _:
                return "kept"

    def _target(self, target: ast.expr) -> Place:
        if isinstance(target, (ast.Tuple, ast.List, ast.Starred)):
            return "value"
        if not isinstance(target, ast.Name):
            return "kept"
        outline = self.resolver.outline
        home = outline.binder(target.id, outline.scope(target))
        place = self.name(target.id, home) if home else "other"
        return "value" if place == "other" else place

    def uses(self, node: ast.expr) -> list[ast.Name]:
        """Return the uses of the names that get an expression's value whole."""
        outline = self.resolver.outline
        above = outline.above(node)
        targets = above.targets if isinstance(above, ast.Assign) else [_single_target(above)]
        found: list[ast.Name] = []
        for target in targets:
            if isinstance(target, ast.Name):
                home = outline.binder(target.id, outline.scope(target))
                found += outline.uses.get((home, target.id), ()) if home else ()
        return found

    def name(self, name: str, home: NameScope) -> Place:
        """Return the use of a name's value, from all of its uses."""
        key = home, name
        if key not in self.named:
            self.named[key] = "other"  # `x = x` ends here
            uses = self.resolver.outline.uses.get(key, ())
            self.named[key] = _strongest(self.of(use) for use in uses)
        return self.named[key]

    def _keyword(self, above: ast.keyword, node: ast.expr) -> Place:
        call = self.resolver.outline.above(above)
        if above.arg is None:
            return "value"
        return self._argument(call, node, above.arg) if isinstance(call, ast.Call) else "other"

    def _argument(self, call: ast.Call, node: ast.expr, keyword: str | None) -> Place:
        ref = self.resolver.ref(call.func)
        place: Place = "value"
        match ref:
            case None:
                place = _method_argument(call.func, keyword)
            case Reference(
                kind="def", node=ast.FunctionDef() | ast.AsyncFunctionDef() as node_called
            ):
                place = self._parameter(call, node, keyword, node_called)
            case Reference(kind="helper", name=name) if name in WAITING_HELPERS:
                place = "asyncio"
            case Reference(kind="member"):
                place = _member_argument(ref)
            case Reference(kind="lambda"):
                place = "other"
            case _:
                pass
        if node is call.func:
            return "value"
        return self._built_in_argument(call, node, keyword, ref) or place

    def _built_in_argument(
        self, call: ast.Call, node: ast.expr, keyword: str | None, ref: Reference | None
    ) -> Place | None:
        """Return how a function stores an argument, or waits for it, that most would use."""
        if ref is None:
            return None
        if ref.name in _STORING and keyword:
            return "kept"
        if ref.kind != "builtin":
            return None
        if ref.name == "setattr" and node is call.args[-1]:
            return "kept"
        return "other" if ref.name in ("aiter", "anext") else None

    def _parameter(
        self, call: ast.Call, node: ast.expr, keyword: str | None, definition: DefNode
    ) -> Place:
        """Return how a function of the script uses an argument."""
        outline = self.resolver.outline
        name = keyword
        if name is None:
            parameters = [*definition.args.posonlyargs, *definition.args.args]
            is_method = outline.scope(definition).is_class
            index = outline.index(node) + (1 if is_method else 0)
            name = parameters[index].arg if index < len(parameters) else ""
        home = outline.inner[definition]
        if name not in home.bindings:
            return "other"
        place = self.name(name, home)
        return "other" if place == "returned" else place


def goes_over_async(node: ast.AST) -> TypeGuard[ast.AsyncFor | ast.comprehension]:
    """Return whether a node is an `async for`, or one in a comprehension."""
    return isinstance(node, ast.AsyncFor) or (
        isinstance(node, ast.comprehension) and bool(node.is_async)
    )


def _single_target(node: ast.AST) -> ast.expr | None:
    return node.target if isinstance(node, ast.AnnAssign | ast.NamedExpr) else None


def _strongest(places: Iterable[Place]) -> Place:
    found = set(places)
    for place in _STRENGTH:
        if place in found:
            return place
    return "other"


def _is_of_coroutines(attribute: str) -> bool:
    """Return whether only a call that is not awaited has an attribute."""
    return attribute in ("__await__", "throw") or attribute.startswith("cr_")


def _member_argument(ref: Reference) -> Place:
    if ref.name == "asyncio.run":
        return "awaited"
    if ref.name in _USING:
        return "value"
    return "asyncio" if ref.name.partition(".")[0] in _LIVE_MODULES else "value"


def _method_argument(func: ast.expr, keyword: str | None) -> Place:
    """Return how a method that reading cannot find uses an argument."""
    name = func.attr if isinstance(func, ast.Attribute) else ""
    if name in _SPAWNERS:
        return "asyncio"
    if name in _ADDERS or (name == "update" and keyword):
        return "kept"
    return "value" if name in _TAKERS else "other"
