"""The scopes of a script: where each name is bound and used, by Python's own rules.

Everything here walks with a stack of its own: scripts may be nested as deep as the parser takes.
"""

import ast
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar, cast

Node = TypeVar("Node", bound=ast.AST)

DefNode = ast.FunctionDef | ast.AsyncFunctionDef

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_MANY = 100
"""Longer assignments (`a, b, c = 1, 2, 3`) are not taken apart."""

_LEAVES = frozenset({"attr", "conversion", "ctx", "id", "kind", "lineno", "op", "ops", "str"})
"""Fields with operators, contexts and plain values."""

_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {ast.Constant: ()}
"""The fields of each kind of node that others may stand in, last first."""


@dataclass(frozen=True, slots=True)
class Binding:
    """One place where a name gets its value."""

    node: ast.AST
    """The statement, parameter or target that binds it."""

    value: ast.expr | None = None
    """The assigned expression, where exactly this name gets exactly that value."""

    origin: str = ""
    """The import: `json`, or `tools:read_file` for `from tools import read_file`."""


@dataclass(slots=True, eq=False)
class NameScope:
    """The module, a function, a class body or a comprehension."""

    node: ast.AST
    parent: "NameScope | None" = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict[str, list[Binding]])
    outer: dict[str, str] = field(default_factory=dict[str, str])
    """Names declared `global` or `nonlocal` here."""

    yields: bool = False
    is_parameters: bool = False
    """It holds the type parameters of its node, and what may name them."""

    @property
    def is_class(self) -> bool:
        """Whether names bound here are invisible in functions below."""
        return isinstance(self.node, ast.ClassDef) and not self.is_parameters

    @property
    def function(self) -> "NameScope":
        """The function, class body or module that this code runs in."""
        scope = self
        while (scope.is_parameters or isinstance(scope.node, COMPREHENSIONS)) and scope.parent:
            scope = scope.parent
        return scope


Stand = tuple[ast.AST, str, int, NameScope]
"""Where a node stands: the node above, its field and index there, and its scope."""


@dataclass(slots=True)
class Outline:
    """A parsed script with its scopes."""

    tree: ast.Module
    module: NameScope
    stands: dict[ast.AST, Stand] = field(default_factory=dict[ast.AST, Stand])
    """Where each node stands; constants, operators and contexts are left out."""

    names: list[ast.Name] = field(default_factory=list[ast.Name])
    """Loads of names."""

    uses: dict[tuple[NameScope, str], list[ast.Name]] = field(
        default_factory=dict[tuple[NameScope, str], list[ast.Name]]
    )
    """Loads by the scope that binds the name, and the name."""

    attributes: dict[str, list[ast.Attribute]] = field(
        default_factory=dict[str, list[ast.Attribute]]
    )
    methods: dict[str, list[DefNode]] = field(default_factory=dict[str, list[DefNode]])
    """Definitions that stand in a class body."""

    stars: list[str] = field(default_factory=list[str])
    """Modules from which everything is imported."""

    inner: dict[ast.AST, NameScope] = field(default_factory=dict[ast.AST, NameScope])
    """The scope that each function, class and comprehension opens."""

    kinds: dict[type[ast.AST], list[ast.AST]] = field(
        default_factory=dict[type[ast.AST], list[ast.AST]]
    )
    """All nodes but operators and contexts, in the order of the text."""

    @property
    def calls(self) -> list[ast.Call]:
        """All calls, in the order of the text."""
        return self.every(ast.Call)

    def above(self, node: ast.AST) -> ast.AST:
        """Return the node that one stands in."""
        return self.stands[node][0]

    def field(self, node: ast.AST) -> str:
        """Return the field of the node above that one stands in."""
        return self.stands[node][1]

    def index(self, node: ast.AST) -> int:
        """Return the place of a node in a field that is a list."""
        return self.stands[node][2]

    def scope(self, node: ast.AST) -> NameScope:
        """Return the scope that a node stands in."""
        return self.stands[node][3]

    def every(self, kind: type[Node]) -> "list[Node]":
        """Return all nodes of one kind, in the order of the text."""
        return cast("list[Node]", self.kinds.get(kind, []))

    def binder(self, name: str, scope: NameScope) -> NameScope | None:
        """Return the scope whose binding of a name is seen from a scope, or None."""
        seen: NameScope | None = scope
        is_near = True  # no function lies between
        while seen:
            declared = seen.outer.get(name)
            if declared == "global":
                seen = self.module
            if name in seen.bindings and (is_near or not seen.is_class):
                return seen
            is_near = is_near and seen.is_parameters
            seen = None if declared == "global" else seen.parent
        return None


def read(tree: ast.Module) -> Outline:
    """Return a tree with its scopes, in one walk in the order of the text."""
    module = NameScope(tree)
    outline = Outline(tree, module, inner={tree: module}, stands={tree: (tree, "", 0, module)})
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        kind = type(node)
        scope = outline.stands[node][3]
        outline.kinds.setdefault(kind, []).append(node)
        if note := _NOTES.get(kind):
            note(outline, node, scope)
        if kind in _ENTERED:
            _enter(outline, node, scope, stack)
        else:
            _put(outline, node, scope, stack)
    for use in outline.names:
        if home := outline.binder(use.id, outline.scope(use)):
            outline.uses.setdefault((home, use.id), []).append(use)
    return outline


def _put(outline: Outline, node: ast.AST, scope: NameScope, stack: list[ast.AST]) -> None:
    """Note where the nodes in a node stand, all in one scope, and put them on a stack."""
    stands = outline.stands
    for name in _fields(type(node)):
        value: object = getattr(node, name, None)
        if isinstance(value, list):
            items = cast("list[object]", value)
            for index in range(len(items) - 1, -1, -1):
                item = items[index]
                if isinstance(item, ast.AST) and type(item) is not ast.Constant:
                    stands[item] = (node, name, index, scope)
                    stack.append(item)
        elif isinstance(value, ast.AST) and type(value) is not ast.Constant:
            stands[value] = (node, name, 0, scope)
            stack.append(value)


def _enter(outline: Outline, node: ast.AST, scope: NameScope, stack: list[ast.AST]) -> None:
    """Do as `_put` for a node whose nodes do not all stand in one scope."""
    around = scope
    if getattr(node, "type_params", None):
        around = NameScope(node, scope, is_parameters=True)
    inside = _open(outline, node, around) if type(node) in _OPENING else around
    first = len(stack)
    _put(outline, node, inside, stack)
    if isinstance(node, ast.comprehension) and outline.index(node) == 0 and scope.parent:
        # The first iterable is evaluated outside.
        outline.stands[node.iter] = (node, "iter", 0, scope.parent)
    outside = _OUTSIDE.get(type(node), {})
    for child in stack[first:]:
        above, name, index, _ = outline.stands[child]
        if where := outside.get(name):
            outline.stands[child] = (above, name, index, scope if where == "before" else around)


def _fields(kind: type[ast.AST]) -> tuple[str, ...]:
    """Return the fields of a kind of node that others may stand in, last first."""
    if kind not in _FIELDS:
        _FIELDS[kind] = tuple(name for name in reversed(kind._fields) if name not in _LEAVES)
    return _FIELDS[kind]


def _open(outline: Outline, node: ast.AST, scope: NameScope) -> NameScope:
    """Return the scope inside a node."""
    inside = outline.inner[node] = NameScope(node, scope)
    if isinstance(node, FUNCTIONS):
        arguments = node.args
        named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for argument in (*named, arguments.vararg, arguments.kwarg):
            if argument:
                inside.bindings.setdefault(argument.arg, []).append(Binding(argument))
    return inside


_OPENING = frozenset((*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS))

_AROUND = dict.fromkeys(("args", "bases", "keywords", "returns", "type_params"), "around")
_BEFORE = {"decorator_list": "before"}
_OUTSIDE: dict[type[ast.AST], dict[str, str]] = {
    ast.FunctionDef: {**_AROUND, **_BEFORE},
    ast.AsyncFunctionDef: {**_AROUND, **_BEFORE},
    ast.Lambda: {"args": "around"},
    ast.ClassDef: {**_AROUND, **_BEFORE},
}
"""Fields that are evaluated outside of what a node opens: around it, where its type parameters are
seen, or before it."""

PARAMETERED = frozenset({ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef})
"""Kinds of nodes that may have type parameters."""

if sys.version_info >= (3, 12):
    PARAMETERED |= {ast.TypeAlias}
    _OUTSIDE[ast.TypeAlias] = {"name": "before"}

_ENTERED = _OPENING | PARAMETERED | {ast.comprehension}


def _bind(outline: Outline, scope: NameScope, name: str, binding: Binding) -> None:
    declared = scope.outer.get(name)
    if declared == "global":
        scope = outline.module
    elif declared == "nonlocal":
        scope = outline.binder(name, scope) or scope
    scope.bindings.setdefault(name, []).append(binding)


def _note_name(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    assert isinstance(node, ast.Name)  # noqa: S101  the table below says so
    if isinstance(node.ctx, ast.Load):
        outline.names.append(node)
        return
    above = outline.above(node)
    home = scope.function if isinstance(above, ast.NamedExpr) else scope
    _bind(outline, home, node.id, Binding(node, _assigned(outline, node, above)))


def _assigned(outline: Outline, node: ast.Name, above: ast.AST) -> ast.expr | None:
    """Return the expression that a target gets whole."""
    match above:
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
            return above.value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            match outline.above(above):
                case ast.Assign(value=ast.Tuple(elts=values) | ast.List(elts=values)) if len(
                    targets
                ) == len(values) < _MANY and not any(
                    isinstance(e, ast.Starred) for e in (*targets, *values)
                ):
                    return values[outline.index(node)]
                case _:
                    return None
        case _:
            return None


def _note_definition(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    assert isinstance(node, (*DEFS, ast.ClassDef))  # noqa: S101  the table below says so
    _bind(outline, scope, node.name, Binding(node))
    if isinstance(node, DEFS) and scope.is_class:
        outline.methods.setdefault(node.name, []).append(node)


def _note_import(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    assert isinstance(node, ast.Import)  # noqa: S101  the table below says so
    for alias in node.names:
        whole = alias.name if alias.asname else alias.name.partition(".")[0]
        _bind(outline, scope, alias.asname or whole, Binding(node, origin=whole))


def _note_import_from(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    assert isinstance(node, ast.ImportFrom)  # noqa: S101  the table below says so
    for alias in node.names:
        if alias.name == "*":
            outline.stars.append(node.module or "")
            continue
        origin = f"{node.module or ''}:{alias.name}"
        _bind(outline, scope, alias.asname or alias.name, Binding(node, origin=origin))


def _note_captured(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
    if isinstance(name, str):
        _bind(outline, scope, name, Binding(node))


def _note_declared(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    assert isinstance(node, (ast.Global, ast.Nonlocal))  # noqa: S101  the table below says so
    if scope is not outline.module:
        kind = "global" if isinstance(node, ast.Global) else "nonlocal"
        scope.outer.update(dict.fromkeys(node.names, kind))


def _note_yield(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    scope.function.yields = True


def _note_attribute(outline: Outline, node: ast.AST, scope: NameScope) -> None:
    assert isinstance(node, ast.Attribute)  # noqa: S101  the table below says so
    outline.attributes.setdefault(node.attr, []).append(node)


_Note = Callable[[Outline, ast.AST, NameScope], None]

_NOTES: dict[type[ast.AST], _Note] = {
    ast.Name: _note_name,
    ast.FunctionDef: _note_definition,
    ast.AsyncFunctionDef: _note_definition,
    ast.ClassDef: _note_definition,
    ast.Import: _note_import,
    ast.ImportFrom: _note_import_from,
    ast.ExceptHandler: _note_captured,
    ast.MatchAs: _note_captured,
    ast.MatchStar: _note_captured,
    ast.MatchMapping: _note_captured,
    ast.Global: _note_declared,
    ast.Nonlocal: _note_declared,
    ast.Yield: _note_yield,
    ast.YieldFrom: _note_yield,
    ast.Attribute: _note_attribute,
    **{
        kind: _note_captured
        for name in ("TypeVar", "ParamSpec", "TypeVarTuple")
        if (kind := getattr(ast, name, None))
    },
}
