"""What a script does with tools, found by reading it once."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lineshaft.engines._formats import has_format, in_template, may_be_any
from lineshaft.engines._marks import lets_pass
from lineshaft.values import Program

Function = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda

Way = Literal["direct", "later", "leave"]
"""How a call is made: answered with a value, made later by a coroutine, or as it stands."""

CONCURRENT = frozenset(
    {"gather", "create_task", "ensure_future", "TaskGroup", "wait", "as_completed"}
)
"""Where none of these names stands in a script, nothing in it runs beside anything else."""

_TAKERS = CONCURRENT | {"append", "extend", "run", "wait_for", "retry", "shield"}
_COLLECTIONS = (
    ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.Starred, ast.Await,
)  # fmt: skip  # words, not one a line

_LOOKED_AT = frozenset({"code", "tool", "message"})
_LOOKS = frozenset({"repr", "getattr", "hasattr"})
_REPR = ord("r")
_AS_IT_IS = -1


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, as it stands in the script."""

    node: ast.Call
    way: Way
    awaited: ast.Await | None = None


@dataclass(frozen=True, slots=True)
class _Place:
    """A call of anything, and where it stands."""

    call: ast.Call
    awaited: ast.Await | None
    function: Function | None
    opaque: bool
    """Its position, or the moment of its evaluation, is not what it seems."""


@dataclass(slots=True)
class Reading:
    """What was found in a script."""

    used: set[str] = field(default_factory=set[str])
    """Names that are read anywhere."""

    imported_first: set[str] = field(default_factory=set[str])
    """Names that a statement of the module itself imports."""

    calls: list[ToolCall] = field(default_factory=list[ToolCall])
    functions: list[Function] = field(default_factory=list[Function])
    results: list[ast.expr] = field(default_factory=list[ast.expr])
    """What the script's value may come from."""

    tries: list[ast.Try] = field(default_factory=list[ast.Try])
    """Those that some error may pass."""

    looked_at: list[ast.expr] = field(default_factory=list[ast.expr])
    """What may be a caught error that is looked into, the outer before the inner."""

    shown: list[ast.FormattedValue] = field(default_factory=list[ast.FormattedValue])
    """Where some of that stands in an f-string, perhaps beside its own text: `{e=}`."""

    formatted: list[ast.FormattedValue] = field(default_factory=list[ast.FormattedValue])
    """What is formatted, and may have no format of its own: `{x:>5}`."""

    templated: list[ast.expr] = field(default_factory=list[ast.expr])
    """The same by `"{:>5}".format(x)`."""


def read(tree: ast.Module, program: Program) -> Reading:
    """Return what a script does with the tools of its program."""
    reader = _Reader()
    reader.visit(tree)
    found = reader.found
    for statement in tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            found.imported_first.update(a.asname or a.name for a in statement.names)
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        found.results.append(tree.body[-1].value)
    known = _Known(reader, program)
    ways = _Ways(tree, concurrent=reader.concurrent)
    found.calls = [ways.of(p) for p in reader.places if known.is_tool(p.call.func)]
    if not reader.catches:
        found.looked_at, found.shown = [], []
    found.looked_at = [node for node in found.looked_at if not known.is_module(node)]
    return found


class _Reader:
    """Goes through a tree once and keeps what may matter."""

    def __init__(self) -> None:
        self.found = Reading()
        self.bound: set[str] = set()
        self.imports: list[ast.Import | ast.ImportFrom] = []
        self.places: list[_Place] = []
        self.concurrent = False
        self.catches = False
        self._function: Function | None = None
        self._opaque = False
        self._awaited: ast.Await | None = None
        self._visitors: Mapping[type[ast.AST], Callable[..., None]] = {
            ast.Name: self._name,
            ast.Attribute: self._attribute,
            ast.Call: self._call,
            ast.Await: self._await,
            ast.FunctionDef: self._define,
            ast.AsyncFunctionDef: self._define,
            ast.Lambda: self._define,
            ast.ClassDef: self._bind,
            ast.arg: self._bind,
            ast.ExceptHandler: self._bind,
            ast.MatchAs: self._bind,
            ast.MatchStar: self._bind,
            ast.MatchMapping: self._bind,
            ast.Import: self._import,
            ast.ImportFrom: self._import,
            ast.JoinedStr: self._hide,
            ast.GeneratorExp: self._hide,
            ast.FormattedValue: self._formatted,
            ast.Return: self._return,
            ast.Try: self._try,
        }

    def visit(self, node: ast.AST) -> None:
        visitor = self._visitors.get(type(node))
        if visitor is None:
            self._inside(node)
        else:
            visitor(node)

    def _inside(self, node: ast.AST) -> None:
        for name in node._fields:
            value: object = getattr(node, name, None)
            if isinstance(value, list):
                for item in value:  # pyright: ignore[reportUnknownVariableType]  of a tree
                    if isinstance(item, ast.AST):
                        self.visit(item)
            elif isinstance(value, ast.AST) and not isinstance(value, ast.expr_context):
                self.visit(value)

    def _name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.used.add(node.id)
            self.concurrent = self.concurrent or node.id in CONCURRENT
        else:
            self.bound.add(node.id)

    def _attribute(self, node: ast.Attribute) -> None:
        self.concurrent = self.concurrent or node.attr in CONCURRENT
        value = node.value
        if node.attr in _LOOKED_AT and isinstance(node.ctx, ast.Load) and not _is_self(value):
            self.found.looked_at.append(value)
        elif node.attr == "__name__" and isinstance(value, ast.Call) and _calls(value, {"type"}):
            self.found.looked_at.append(value.args[0])
        self.visit(value)

    def _call(self, node: ast.Call) -> None:
        self.places.append(_Place(node, self._awaited, self._function, self._opaque))
        self._awaited = None
        if _calls(node, _LOOKS):
            self.found.looked_at.append(node.args[0])
        self.found.templated.extend(in_template(node))
        self._inside(node)

    def _await(self, node: ast.Await) -> None:
        self._awaited = node if isinstance(node.value, ast.Call) else None
        self.visit(node.value)

    def _define(self, node: Function) -> None:
        if not isinstance(node, ast.Lambda):
            self.bound.add(node.name)
        self.found.functions.append(node)
        outer, self._function = self._function, node
        self._inside(node)
        self._function = outer

    def _bind(self, node: ast.AST) -> None:
        self.catches = self.catches or isinstance(node, ast.ExceptHandler)
        for name in ("name", "arg", "rest"):
            bound = getattr(node, name, None)
            if bound:
                self.bound.add(bound)
        self._inside(node)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        self.imports.append(node)
        self.concurrent = self.concurrent or any(a.name in CONCURRENT for a in node.names)

    def _hide(self, node: ast.AST) -> None:
        outer, self._opaque = self._opaque, True
        self._inside(node)
        self._opaque = outer

    def _formatted(self, node: ast.FormattedValue) -> None:
        before = len(self.found.looked_at)
        if node.conversion == _REPR:
            self.found.looked_at.append(node.value)
        self._inside(node)
        if len(self.found.looked_at) > before:
            self.found.shown.append(node)
        elif node.conversion == _AS_IT_IS and has_format(node) and may_be_any(node.value):
            self.found.formatted.append(node)

    def _try(self, node: ast.Try) -> None:
        if lets_pass(node):
            self.found.tries.append(node)
        self._inside(node)

    def _return(self, node: ast.Return) -> None:
        if node.value is not None:
            if self._function is None:
                self.found.results.append(node.value)
            self.visit(node.value)


def _is_self(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "self"


def _calls(node: ast.Call, names: "frozenset[str] | set[str]") -> bool:
    """Return whether a call is one of a builtin by name, with a first argument."""
    named = isinstance(node.func, ast.Name) and node.func.id in names
    return named and bool(node.args) and not isinstance(node.args[0], ast.Starred)


class _Known:
    """Which expressions are tools, as far as names that a script binds itself leave them so."""

    def __init__(self, reader: _Reader, program: Program) -> None:
        modules = {"tools": program.tools, **program.namespaces}
        bound = reader.bound | set(program.inputs)
        self._functions = set(program.tools)
        self._modules: dict[str, frozenset[str]] = dict(modules)
        for node in reader.imports:
            for alias in node.names:
                name = alias.asname or alias.name
                if isinstance(node, ast.Import):
                    if alias.name in modules:
                        self._modules[name] = modules[alias.name]
                elif alias.name in modules.get(node.module or "", ()):
                    self._functions.add(name)
        self._functions -= bound
        self._modules = {name: of for name, of in self._modules.items() if name not in bound}

    def is_module(self, node: ast.expr) -> bool:
        """Return whether an expression is certainly a module of tools."""
        return isinstance(node, ast.Name) and node.id in self._modules

    def is_tool(self, node: ast.expr) -> bool:
        """Return whether an expression is certainly a tool."""
        if isinstance(node, ast.Name):
            return node.id in self._functions
        return (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in self._modules.get(node.value.id, ())
        )


class _Ways:
    """How each call of a tool is to be made."""

    def __init__(self, tree: ast.Module, *, concurrent: bool) -> None:
        self._tree = tree
        self._concurrent = concurrent
        self._above: dict[ast.AST, ast.AST] = {}

    def of(self, place: _Place) -> ToolCall:
        """Return a call with the way it is to be made."""
        call, function = place.call, place.function
        if place.awaited is not None:
            alone = function is None or not self._concurrent
            way: Way = "direct" if alone and not place.opaque else "leave"
            return ToolCall(call, way, place.awaited)
        if isinstance(function, ast.Lambda):
            return ToolCall(call, "later" if function.body is call else "direct")
        if isinstance(function, ast.FunctionDef):
            wanted = _returns(function, call) and self._coroutine_wanted(function.name)
            return ToolCall(call, "later" if wanted else "direct")
        return ToolCall(call, "leave" if place.opaque else "later")

    def _coroutine_wanted(self, name: str) -> bool:
        """Return whether somebody takes what a function returns without using it at once."""
        if not self._above:
            self._above = {
                child: node for node in ast.walk(self._tree) for child in ast.iter_child_nodes(node)
            }
        for node in self._above:
            named = isinstance(node, ast.Name) and node.id == name
            if named or (isinstance(node, ast.Attribute) and node.attr == name):
                above = self._above[node]
                if not (isinstance(above, ast.Call) and above.func is node):
                    return True
                if _takes(self._above[above]):
                    return True
        return False


def _returns(function: ast.FunctionDef, call: ast.Call) -> bool:
    return any(isinstance(s, ast.Return) and s.value is call for s in ast.walk(function))


def _takes(node: ast.AST) -> bool:
    """Return whether an expression takes a coroutine that stands directly in it."""
    if isinstance(node, ast.Call):
        return (getattr(node.func, "id", "") or getattr(node.func, "attr", "")) in _TAKERS
    return isinstance(node, _COLLECTIONS)
