"""A script's text -> code that runs as the module `__main__`.

A module cannot `await` or `return`, so the script becomes the body of a function all of whose
names are global, and then loses the marks of a function: `locals()` are its globals, and names
that `exec` makes are seen. Every node keeps its place, so errors have the lines as written.

A call of a tool in a plain function gives its value there and then, unless its coroutine is
wanted; `_reading.py` decides that, for all engines alike.
"""

import ast
import inspect
import sys
from collections.abc import Iterator
from types import CodeType
from typing import TypeVar, cast

from lineshaft.engines._cpython._inside._program import Program
from lineshaft.engines._reading import read

NOW = "_ls_now"
"""Gives the form of a tool that answers with its value."""

STAR = "_ls_star"
"""Does `from module import *`."""

_TAKERS = frozenset(
    {
        "create_task", "ensure_future", "gather", "run_coroutine_threadsafe", "run_until_complete",
        "shield", "wait_for",
    }
)  # fmt: skip  # words, not one a line
_FUNCTION = "<module>"
_NAMED = (
    ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs,
    ast.MatchStar,
)  # fmt: skip  # words, not one a line
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_Body = list[ast.stmt]
Node = TypeVar("Node", bound=ast.AST)


def compile_script(source: str, name: str, program: Program) -> CodeType:
    """Return the code of a script; a coroutine's, if the script awaits at its top level.

    Raises:
        SyntaxError: It is not Python, in whatever way.
    """
    try:
        tree = ast.parse(source, name)
        found = read(tree, program)  # pyright: ignore[reportArgumentType]  it stands for the other
        direct = [c.node for c in found.calls if c.way == "direct" and c.awaited is None]
        taken = _taken(tree) if direct else frozenset[int]()
        for call in direct:
            if id(call) not in taken:
                _make_now(call)
        return _code(compile(_wrapped(tree, name), name, "exec", dont_inherit=True))
    except (ValueError, MemoryError, RecursionError) as error:
        raise SyntaxError(str(error) or "the script is nested too deeply") from None


def _taken(tree: ast.Module) -> frozenset[int]:
    """Return the calls that are given to something of asyncio, as coroutines."""
    return frozenset(
        id(given)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _takes_coroutines(node.func)
        for given in node.args
    )


def _takes_coroutines(function: ast.expr) -> bool:
    if isinstance(function, ast.Attribute):
        of_asyncio = isinstance(function.value, ast.Name) and function.value.id == "asyncio"
        return function.attr in _TAKERS or (of_asyncio and function.attr == "run")
    return isinstance(function, ast.Name) and function.id in _TAKERS


def _make_now(call: ast.Call) -> None:
    """Turn `tool(x)` into `_ls_now(tool)(x)`."""
    wrapped = ast.Call(ast.Name(NOW, ast.Load()), [call.func], [])
    call.func = placed(wrapped, call.func)


def _code(module: CodeType) -> CodeType:
    [code] = [
        const
        for const in module.co_consts
        if isinstance(const, CodeType) and const.co_name == _FUNCTION
    ]
    marks = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS | inspect.CO_NESTED
    return code.replace(co_flags=code.co_flags & ~marks)


def _wrapped(tree: ast.Module, name: str) -> ast.Module:
    futures = [s for s in tree.body if _is_future(s)]
    body = [_allowed(s) for s in tree.body if not _is_future(s)]
    parts = [node for statement in body for node in _same_scope(statement)]
    _refuse_yield(parts, name)
    if body and isinstance(body[-1], ast.Expr):
        body[-1] = placed(ast.Return(body[-1].value), body[-1])
    bound = sorted({name for node in parts for name in _bound(node)})
    head: _Body = [ast.Global(bound)] if bound else []
    in_loop = any(_awaits(node) or _speaks_of_the_loop(node) for node in parts)
    kind = ast.AsyncFunctionDef if in_loop else ast.FunctionDef
    nothing = ast.arguments([], [], None, [], [], None, [])
    function = kind(_FUNCTION, nothing, head + body or [ast.Pass()], [])
    if sys.version_info >= (3, 12):
        function.type_params = []
    module = ast.Module([*futures, function], [])
    for node in (function, *function.body[:1]):
        if not hasattr(node, "lineno"):
            node.lineno = node.end_lineno = 1
            node.col_offset = node.end_col_offset = 0
    return module


def placed(new: Node, old: ast.AST) -> Node:
    """Return a new node at an old one's place."""
    return ast.fix_missing_locations(ast.copy_location(new, old))


def _is_future(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.ImportFrom) and statement.module == "__future__"


def _allowed(statement: ast.stmt) -> ast.stmt:
    """Replace what only a module may hold, also inside blocks."""
    return cast("ast.stmt", _Allowed().visit(statement))


class _Allowed(ast.NodeTransformer):
    """Goes through one scope."""

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, (*_SCOPES, ast.expr)):
            return node
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            given: list[ast.expr] = [ast.Constant(node.module or ""), ast.Constant(node.level)]
            return placed(ast.Expr(ast.Call(ast.Name(STAR, ast.Load()), given, [])), node)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if node.value is None:
                return placed(ast.Pass(), node)
            return placed(ast.Assign([node.target], node.value), node)
        return self.generic_visit(node)


def _same_scope(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it that belongs to the scope around it."""
    yield node
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        inner: list[ast.AST] = [*node.args.defaults, *(d for d in node.args.kw_defaults if d)]
        inner += getattr(node, "decorator_list", ())
    elif isinstance(node, ast.ClassDef):
        inner = [*node.decorator_list, *node.bases, *node.keywords]
    else:
        inner = list(ast.iter_child_nodes(node))
    for child in inner:
        yield from _same_scope(child)


def _bound(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.Import | ast.ImportFrom):
        yield from ((alias.asname or alias.name).split(".")[0] for alias in node.names)
    elif isinstance(node, _NAMED) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _awaits(node: ast.AST) -> bool:
    return isinstance(node, ast.Await | ast.AsyncFor | ast.AsyncWith) or (
        isinstance(node, ast.comprehension) and bool(node.is_async)
    )


def _speaks_of_the_loop(node: ast.AST) -> bool:
    """Return whether a script needs to be inside an event loop though it awaits nothing."""
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name in ("create_task", "ensure_future", "get_running_loop", "current_task")


def _refuse_yield(parts: list[ast.AST], name: str) -> None:
    found = [node for node in parts if isinstance(node, ast.Yield | ast.YieldFrom)]
    if found:
        where = (name, found[0].lineno, found[0].col_offset + 1, None)
        raise SyntaxError("'yield' outside function", where)
