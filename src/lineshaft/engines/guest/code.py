"""Compilation of a script to code that runs as the module `__main__`, with top-level `await`.

The compiler of interactive prompts allows `await` in a module. Where a `return` stands among the
top-level statements (other than as the last one), the script becomes the body of an async function
all of whose names are global, which then loses the marks of a function: `locals()` are its globals,
names that `exec` makes are seen, class bodies find them.
"""

import __future__

import ast
import inspect
import sys
import warnings
from collections.abc import Iterable, Iterator
from types import CodeType
from typing import Any, TypeVar, cast

VALUE = "value of the script"
"""The global that holds the last expression's value; no name that a script can write."""

STAR = "import all of the script"
"""The global that does `from module import *` where a module's code cannot."""

_FUNCTION = "<module>"
_GENERATOR = "in async generator"
"""Part of the compiler's error for a function that both yields and returns."""

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_MARKS = inspect.CO_OPTIMIZED | inspect.CO_NEWLOCALS | inspect.CO_NESTED
_Node = TypeVar("_Node", bound=ast.AST)


def compile_script(source: str, name: str) -> CodeType:
    """Return the code of a script; `eval` of it gives a coroutine where it awaits or returns.

    Args:
        source: Its text.
        name: Its file name.

    Raises:
        SyntaxError: It is not valid Python.
    """
    told: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as told:
            return _compiled(source, name)
    finally:
        # Several passes warn of the same.
        for each in {(str(each.message), each.lineno): each for each in told}.values():
            warnings.showwarning(each.message, each.category, each.filename, each.lineno)


def _compiled(source: str, name: str) -> CodeType:
    try:
        tree = ast.parse(source, name)
        if "return" in source and _returns(tree):
            return _as_function(tree, name)
        _keep_value(tree.body)
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        return compile(tree, name, "exec", flags=flags, dont_inherit=True)
    except (ValueError, MemoryError, RecursionError) as error:
        raise SyntaxError(str(error) or "the script is nested too deeply") from None


def _returns(tree: ast.Module) -> bool:
    """Return whether a `return` stands elsewhere than as the last statement."""
    body = tree.body
    if body and isinstance(body[-1], ast.Return):
        body = body[:-1]
    return any(isinstance(node, ast.Return) for node in _statements(body))


def _statements(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield all statements of the top-level scope."""
    for statement in body:
        yield statement
        if not isinstance(statement, _SCOPES):
            for block in _blocks(statement):
                yield from _statements(block)


def _keep_value(body: list[ast.stmt]) -> None:
    if not body:
        return
    last = body[-1]
    if isinstance(last, ast.Expr | ast.Return):
        place: dict[str, Any] = {
            "lineno": last.lineno,
            "col_offset": last.col_offset,
            "end_lineno": last.end_lineno,
            "end_col_offset": last.end_col_offset,
        }
        value = last.value or ast.Constant(None, **place)
        name = ast.Name(VALUE, ast.Store(), **place)
        body[-1] = ast.Assign([name], value, **place)


def _placed(new: _Node, old: ast.AST) -> _Node:
    """Return a new node at an old one's place."""
    return ast.fix_missing_locations(ast.copy_location(new, old))


def _as_function(tree: ast.Module, name: str) -> CodeType:
    flags = 0
    body: list[ast.stmt] = []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            for alias in statement.names:
                flags |= _future(alias.name, name, statement)
        else:
            body.append(statement)
    _replace(body)
    if body and _is_text(body[0]):
        value = cast("ast.Expr", body[0]).value
        body[0] = _placed(ast.Assign([ast.Name("__doc__", ast.Store())], value), body[0])
    if isinstance(body[-1], ast.Expr):
        body[-1] = _placed(ast.Return(body[-1].value), body[-1])
    nothing = ast.arguments([], [], None, [], [], None, [])
    function = ast.AsyncFunctionDef(_FUNCTION, nothing, body, [])
    if sys.version_info >= (3, 12):
        function.type_params = []
    _set_first(function)
    try:
        code = _inner_code(function, name, flags)
    except SyntaxError as error:
        if _GENERATOR not in (error.msg or ""):
            raise
        raise _yield_error(body, name) from None
    if code.co_flags & inspect.CO_ASYNC_GENERATOR:
        raise _yield_error(body, name)
    # The compiler's local names are the names that the script binds.
    bound = [*code.co_varnames, *code.co_cellvars]
    if bound:
        head = ast.Global(bound)
        _set_first(head)
        function.body = [head, *body]
        code = _inner_code(function, name, flags)
    code = _renamed(code)
    return code.replace(co_flags=code.co_flags & ~_MARKS)


def _set_first(node: ast.stmt) -> None:
    """Place a node at the begin of the script."""
    node.lineno = node.end_lineno = 1
    node.col_offset = node.end_col_offset = 0


def _inner_code(function: ast.stmt, name: str, flags: int) -> CodeType:
    """Return the code of a function that is all of a module."""
    module = compile(ast.Module([function], []), name, "exec", flags=flags, dont_inherit=True)
    return next(const for const in module.co_consts if isinstance(const, CodeType))


def _future(feature: str, name: str, statement: ast.ImportFrom) -> int:
    found = getattr(__future__, feature, None)
    if found is None:
        where = (name, statement.lineno, statement.col_offset + 1, None)
        raise SyntaxError(f"future feature {feature} is not defined", where)
    return found.compiler_flag


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _renamed(code: CodeType) -> CodeType:
    """Remove the function's name from the qualified names of the definitions in it."""
    consts = tuple(
        _renamed(const) if isinstance(const, CodeType) else const for const in code.co_consts
    )
    name = code.co_qualname.removeprefix(f"{_FUNCTION}.<locals>.")
    return code.replace(co_qualname=name, co_consts=consts)


def _replace(body: list[ast.stmt]) -> None:
    """Replace statements that only a module may hold, also inside blocks."""
    for place, statement in enumerate(body):
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            given: list[ast.expr] = [
                ast.Constant(statement.module or ""),
                ast.Constant(statement.level),
            ]
            call = ast.Call(ast.Name(STAR, ast.Load()), given, [])
            body[place] = _placed(ast.Expr(call), statement)
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            plain = (
                ast.Pass()
                if statement.value is None
                else ast.Assign([statement.target], statement.value)
            )
            body[place] = _placed(plain, statement)
        elif not isinstance(statement, _SCOPES):
            for block in _blocks(statement):
                _replace(block)


def _blocks(statement: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a statement."""
    for field in ("body", "orelse", "finalbody"):
        block = getattr(statement, field, None)
        if block:
            yield block
    for field in ("handlers", "cases"):
        for part in getattr(statement, field, ()):
            yield part.body


def _yield_error(body: list[ast.stmt], name: str) -> SyntaxError:
    left: list[ast.AST] = list(reversed(body))
    while left:
        node = left.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom):
            return SyntaxError("'yield' outside function", (name, node.lineno, 1, None))
        if not isinstance(node, _SCOPES):
            left += reversed(list(ast.iter_child_nodes(node)))
    return SyntaxError("'yield' outside function")
