"""Where each name of a script is bound and used: Python's own rules of scope, by reading.

Everything here walks with a stack of its own: scripts may be nested as deep as the parser takes.
"""

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import cast

DefNode = ast.FunctionDef | ast.AsyncFunctionDef

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)

_MANY = 100
"""Longer assignments (`a, b, c = 1, 2, 3`) are not taken apart."""

_LEAVES = frozenset({"ctx", "op", "ops"})
"""Fields with operators and contexts, which nobody asks for."""


@dataclass(frozen=True, slots=True)
class Binding:
    """One place where a name gets its value."""

    node: ast.AST
    """The statement, parameter or target that binds it."""

    value: ast.expr | None = None
    """What is assigned, where exactly this name gets exactly that."""

    origin: str = ""
    """What is imported: `json`, or `tools:read_file` for `from tools import read_file`."""


@dataclass(slots=True, eq=False)
class Scope:
    """The module, a function, a class body or a comprehension."""

    node: ast.AST
    parent: "Scope | None" = None
    bindings: dict[str, list[Binding]] = field(default_factory=dict[str, list[Binding]])
    outer: dict[str, str] = field(default_factory=dict[str, str])
    """Names declared `global` or `nonlocal` here."""

    yields: bool = False

    @property
    def is_class(self) -> bool:
        """Whether names bound here are invisible in functions below."""
        return isinstance(self.node, ast.ClassDef)

    @property
    def function(self) -> "Scope":
        """The function, class body or module that this code runs in."""
        scope = self
        while isinstance(scope.node, COMPREHENSIONS) and scope.parent:
            scope = scope.parent
        return scope


@dataclass(slots=True)
class Reading:
    """A parsed script with its scopes."""

    tree: ast.Module
    module: Scope
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict[ast.AST, ast.AST])
    slots: dict[ast.AST, tuple[str, int]] = field(default_factory=dict[ast.AST, tuple[str, int]])
    """The field of its parent that a node stands in, and its index there."""

    scopes: dict[ast.AST, Scope] = field(default_factory=dict[ast.AST, Scope])
    """The scope that each name, call and definition stands in."""

    names: list[ast.Name] = field(default_factory=list[ast.Name])
    """Loads of names."""

    uses: dict[tuple[Scope, str], list[ast.Name]] = field(
        default_factory=dict[tuple[Scope, str], list[ast.Name]]
    )
    """Loads by the scope that binds the name, and the name."""

    attributes: dict[str, list[ast.Attribute]] = field(
        default_factory=dict[str, list[ast.Attribute]]
    )
    calls: list[ast.Call] = field(default_factory=list[ast.Call])
    methods: dict[str, list[DefNode]] = field(default_factory=dict[str, list[DefNode]])
    """Definitions that stand in a class body."""

    stars: list[str] = field(default_factory=list[str])
    """Modules from which everything is imported."""

    inner: dict[ast.AST, Scope] = field(default_factory=dict[ast.AST, Scope])
    """The scope that each function, class and comprehension opens."""

    nodes: list[ast.AST] = field(default_factory=list[ast.AST])
    """All nodes but operators and contexts."""

    def binder(self, name: str, scope: Scope) -> Scope | None:
        """Return the scope whose binding of a name is seen from a scope, or None."""
        seen: Scope | None = scope
        while seen:
            declared = seen.outer.get(name)
            if declared == "global":
                seen = self.module
            if name in seen.bindings and (seen is scope or not seen.is_class):
                return seen
            seen = None if declared == "global" else seen.parent
        return None


def read(tree: ast.Module, *, max_depth: int) -> Reading:
    """Return a tree with its scopes, in one walk in the order of the text.

    Raises:
        TooDeep: A node stands deeper than `max_depth`.
    """
    module = Scope(tree)
    reading = Reading(tree, module, inner={tree: module})
    stack: list[tuple[ast.AST, Scope, int]] = [(tree, module, 0)]
    while stack:
        node, scope, depth = stack.pop()
        if depth > max_depth:
            raise TooDeep(getattr(node, "lineno", 1))
        reading.nodes.append(node)
        reading.scopes[node] = scope
        kind = type(node)
        if note := _NOTES.get(kind):
            note(reading, node, scope)
        inside = _open(reading, node, scope) if kind in _OPENING else scope
        outside = _OUTSIDE.get(kind, ())
        first = _first_source(reading, node) if kind is ast.comprehension else None
        for child, slot in _children(node):
            reading.parents[child] = node
            reading.slots[child] = slot
            place = scope if slot[0] in outside else inside
            stack.append((child, (scope.parent or scope) if child is first else place, depth + 1))
    for use in reading.names:
        if home := reading.binder(use.id, reading.scopes[use]):
            reading.uses.setdefault((home, use.id), []).append(use)
    return reading


class TooDeep(Exception):
    """A script is nested deeper than anybody reads."""

    def __init__(self, line: int) -> None:
        super().__init__(f"nested too deep on line {line}")
        self.line = line


def _first_source(reading: Reading, node: ast.AST) -> ast.AST | None:
    """Return what a comprehension goes over first: that is evaluated outside of it."""
    if not isinstance(node, ast.comprehension):
        return None
    above = reading.parents[node]
    is_first = isinstance(above, COMPREHENSIONS) and above.generators[0] is node
    return node.iter if is_first else None


def _open(reading: Reading, node: ast.AST, scope: Scope) -> Scope:
    """Return the scope of what stands inside a node."""
    inside = reading.inner[node] = Scope(node, scope)
    if isinstance(node, FUNCTIONS):
        arguments = node.args
        named = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
        for argument in (*named, arguments.vararg, arguments.kwarg):
            if argument:
                inside.bindings.setdefault(argument.arg, []).append(Binding(argument))
    return inside


_OPENING = frozenset((*FUNCTIONS, ast.ClassDef, *COMPREHENSIONS))

_OUTSIDE: dict[type[ast.AST], tuple[str, ...]] = {
    ast.FunctionDef: ("args", "decorator_list", "returns"),
    ast.AsyncFunctionDef: ("args", "decorator_list", "returns"),
    ast.Lambda: ("args",),
    ast.ClassDef: ("bases", "keywords", "decorator_list"),
}


def _children(node: ast.AST) -> Iterator[tuple[ast.AST, tuple[str, int]]]:
    """Return what stands in a node, last first, with its field and index."""
    for name in reversed(node._fields):
        value: object = None if name in _LEAVES else getattr(node, name, None)
        if isinstance(value, ast.AST):
            yield value, (name, 0)
        elif isinstance(value, list):
            items = cast("list[object]", value)
            for index in range(len(items) - 1, -1, -1):
                item = items[index]
                if isinstance(item, ast.AST):
                    yield item, (name, index)


def _bind(reading: Reading, scope: Scope, name: str, binding: Binding) -> None:
    declared = scope.outer.get(name)
    if declared == "global":
        scope = reading.module
    elif declared == "nonlocal":
        scope = reading.binder(name, scope) or scope
    scope.bindings.setdefault(name, []).append(binding)


def _note_name(reading: Reading, node: ast.AST, scope: Scope) -> None:
    assert isinstance(node, ast.Name)  # noqa: S101  the table below says so
    if isinstance(node.ctx, ast.Load):
        reading.names.append(node)
        return
    above = reading.parents[node]
    home = scope.function if isinstance(above, ast.NamedExpr) else scope
    _bind(reading, home, node.id, Binding(node, _assigned(reading, node, above)))


def _assigned(reading: Reading, node: ast.Name, above: ast.AST) -> ast.expr | None:
    """Return the expression that a target gets whole."""
    match above:
        case ast.Assign() | ast.AnnAssign() | ast.NamedExpr():
            return above.value
        case ast.Tuple(elts=targets) | ast.List(elts=targets):
            match reading.parents[above]:
                case ast.Assign(value=ast.Tuple(elts=values) | ast.List(elts=values)) if len(
                    targets
                ) == len(values) < _MANY and not any(
                    isinstance(e, ast.Starred) for e in (*targets, *values)
                ):
                    return values[reading.slots[node][1]]
                case _:
                    return None
        case _:
            return None


def _note_definition(reading: Reading, node: ast.AST, scope: Scope) -> None:
    assert isinstance(node, (*DEFS, ast.ClassDef))  # noqa: S101  the table below says so
    _bind(reading, scope, node.name, Binding(node))
    if isinstance(node, DEFS) and scope.is_class:
        reading.methods.setdefault(node.name, []).append(node)


def _note_import(reading: Reading, node: ast.AST, scope: Scope) -> None:
    assert isinstance(node, ast.Import)  # noqa: S101  the table below says so
    for alias in node.names:
        whole = alias.name if alias.asname else alias.name.partition(".")[0]
        _bind(reading, scope, alias.asname or whole, Binding(node, origin=whole))


def _note_import_from(reading: Reading, node: ast.AST, scope: Scope) -> None:
    assert isinstance(node, ast.ImportFrom)  # noqa: S101  the table below says so
    for alias in node.names:
        if alias.name == "*":
            reading.stars.append(node.module or "")
            continue
        origin = f"{node.module or ''}:{alias.name}"
        _bind(reading, scope, alias.asname or alias.name, Binding(node, origin=origin))


def _note_captured(reading: Reading, node: ast.AST, scope: Scope) -> None:
    name = getattr(node, "rest" if isinstance(node, ast.MatchMapping) else "name", None)
    if isinstance(name, str):
        _bind(reading, scope, name, Binding(node))


def _note_declared(reading: Reading, node: ast.AST, scope: Scope) -> None:
    assert isinstance(node, (ast.Global, ast.Nonlocal))  # noqa: S101  the table below says so
    if scope is not reading.module:
        kind = "global" if isinstance(node, ast.Global) else "nonlocal"
        scope.outer.update(dict.fromkeys(node.names, kind))


def _note_yield(reading: Reading, node: ast.AST, scope: Scope) -> None:
    scope.function.yields = True


def _note_call(reading: Reading, node: ast.AST, scope: Scope) -> None:
    assert isinstance(node, ast.Call)  # noqa: S101  the table below says so
    reading.calls.append(node)


def _note_attribute(reading: Reading, node: ast.AST, scope: Scope) -> None:
    assert isinstance(node, ast.Attribute)  # noqa: S101  the table below says so
    reading.attributes.setdefault(node.attr, []).append(node)


_Note = Callable[[Reading, ast.AST, Scope], None]

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
    ast.Call: _note_call,
    ast.Attribute: _note_attribute,
    **{
        kind: _note_captured
        for name in ("TypeVar", "ParamSpec", "TypeVarTuple")
        if (kind := getattr(ast, name, None))
    },
}
