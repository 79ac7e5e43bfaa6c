"""What a script does with tools, found by reading it."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

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
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, as it stands in the script."""

    node: ast.Call
    way: Way
    awaited: ast.Await | None = None


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

    catches: bool = False
    """Some exception is caught."""


def read(tree: ast.Module, program: Program) -> Reading:
    """Return what a script does with the tools of its program."""
    reader = _Reader(tree, program)
    for statement in tree.body:
        reader.visit(statement)
        if isinstance(statement, ast.Import | ast.ImportFrom):
            reader.found.imported_first.update(
                (alias.asname or alias.name) for alias in statement.names
            )
    if tree.body and isinstance(tree.body[-1], ast.Expr):
        reader.found.results.append(tree.body[-1].value)
    return reader.found


class Names:
    """Which expressions are tools, as far as names that a script binds itself leave them so."""

    def __init__(self, tree: ast.Module, program: Program) -> None:
        self._modules: dict[str, frozenset[str]] = {"tools": program.tools, **program.namespaces}
        self._functions = set(program.tools)
        bound = set(program.inputs) | set(_bound(tree))
        self._follow_imports(tree)
        self._functions -= bound
        self._modules = {k: v for k, v in self._modules.items() if k not in bound}

    def _follow_imports(self, tree: ast.Module) -> None:
        known: Mapping[str, frozenset[str]] = dict(self._modules)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in known:
                names = known[node.module]
                self._functions |= {a.asname or a.name for a in node.names if a.name in names}
            elif isinstance(node, ast.Import):
                self._modules |= {
                    a.asname or a.name: known[a.name] for a in node.names if a.name in known
                }

    def is_tool(self, node: ast.expr) -> bool:
        """Return whether an expression is certainly a tool."""
        if isinstance(node, ast.Name):
            return node.id in self._functions
        return (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.attr in self._modules.get(node.value.id, ())
        )


def _bound(tree: ast.Module) -> Iterator[str]:
    """Yield the names that a script binds by other means than an import."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name):
                yield name
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
                yield name
            case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                yield name
            case _:
                pass


class _Reader(ast.NodeVisitor):
    def __init__(self, tree: ast.Module, program: Program) -> None:
        self.found = Reading()
        self._tree = tree
        self._names = Names(tree, program)
        self._concurrent = any(
            getattr(node, "id", "") in CONCURRENT or getattr(node, "attr", "") in CONCURRENT
            for node in ast.walk(tree)
        )
        self._within: list[Function] = []
        self._opaque = 0
        self._above: dict[ast.AST, ast.AST] = {}

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.found.used.add(node.id)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.found.catches = True
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._function(node)

    def _function(self, node: Function) -> None:
        self.found.functions.append(node)
        self._within.append(node)
        self.generic_visit(node)
        self._within.pop()

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._hidden(node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> None:
        self._hidden(node)

    def _hidden(self, node: ast.AST) -> None:
        """Visit what is left as it stands: positions or evaluation are not what they seem."""
        self._opaque += 1
        self.generic_visit(node)
        self._opaque -= 1

    def visit_Return(self, node: ast.Return) -> None:
        if node.value is not None and not self._within:
            self.found.results.append(node.value)
        self.generic_visit(node)

    def visit_Await(self, node: ast.Await) -> None:
        call = node.value
        if isinstance(call, ast.Call) and self._names.is_tool(call.func):
            alone = not self._within or not self._concurrent
            way: Way = "direct" if alone and not self._opaque else "leave"
            self.found.calls.append(ToolCall(call, way, node))
            self.generic_visit(call)
        else:
            self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        if self._names.is_tool(node.func):
            self.found.calls.append(ToolCall(node, self._way(node)))
        self.generic_visit(node)

    def _way(self, call: ast.Call) -> Way:
        function = self._within[-1] if self._within else None
        if isinstance(function, ast.Lambda):
            return "later" if function.body is call else "direct"
        if isinstance(function, ast.FunctionDef):
            returned = any(
                isinstance(s, ast.Return) and s.value is call for s in ast.walk(function)
            )
            return "later" if returned and self._coroutine_wanted(function.name) else "direct"
        return "leave" if self._opaque else "later"

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
                if self._taken(self._above[above]):
                    return True
        return False

    def _taken(self, by: ast.AST) -> bool:
        if isinstance(by, ast.Call):
            taker = getattr(by.func, "id", "") or getattr(by.func, "attr", "")
            return taker in _TAKERS
        return isinstance(by, _COLLECTIONS)
