"""The syntax of a script: its tree, and the compiler's errors."""

import ast
import warnings
from collections.abc import Callable
from typing import TypeVar

from .remarks import Remark
from .scopes import Outline

_NAME = "<script>"
_Made = TypeVar("_Made")


def parse(text: str) -> ast.Module | Remark:
    """Return the syntax tree of a script, or its syntax error."""
    return _tried(text, lambda: ast.parse(text, _NAME))


_MISPLACED = (ast.Break, ast.Continue, ast.Global, ast.Nonlocal, ast.Yield, ast.YieldFrom)
"""Statements that are errors in some places."""


_LONG_TEXT = 20_000
_LONG_LINE = 2_000
"""Characters; with more, a script may be nested deeper than the compiler takes."""


def is_doubtful(outline: Outline, text: str) -> bool:
    """Return whether the compiler may refuse what the parser took.

    The compiler takes as long as all the rest of reading, and nothing of a script runs before it
    is compiled: it is asked ahead only where a statement may be out of place, or nested deep.

    Args:
        outline: Of the script.
        text: The script.
    """
    if len(text) > _LONG_TEXT or any(len(line) > _LONG_LINE for line in text.split("\n")):
        return True
    if any(outline.every(kind) for kind in _MISPLACED):
        return True
    if any(outline.scope(node).function.is_class for node in outline.every(ast.Return)):
        return True
    if any(node.module == "__future__" for node in outline.every(ast.ImportFrom)):
        return True
    if any(_is_repeating(call) for call in outline.calls):
        return True
    return any(
        len(found) > 1 and sum(isinstance(binding.node, ast.arg) for binding in found) > 1
        for scope in outline.inner.values()
        for found in scope.bindings.values()
    )


def _is_repeating(call: ast.Call) -> bool:
    """Return whether a call names an argument twice."""
    names = [keyword.arg for keyword in call.keywords if keyword.arg]
    return len(names) > len(set(names))


def compiled(text: str, outline: Outline | None) -> Remark | None:
    """Return the compiler's error for a script that the parser accepts.

    Args:
        text: The script, with its `await`s.
        outline: Of exactly this text; None: it is parsed.
    """
    tree = outline.tree if outline else parse(text)
    if isinstance(tree, Remark):
        return tree
    returns = _returns(tree)
    for block, index, value in returns:
        block[index] = value
    try:
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        found = _tried(text, lambda: compile(tree, _NAME, "exec", flags, dont_inherit=True))
    finally:
        if outline:
            _put_back(outline, returns)
    return found if isinstance(found, Remark) else None


_Replaced = tuple[list[ast.stmt], int, ast.stmt]


def _returns(tree: ast.Module) -> list[_Replaced]:
    """Return the script's own `return`s, with the text that the compiler takes instead."""
    found: list[_Replaced] = []
    todo: list[list[ast.stmt]] = [tree.body]
    while todo:
        block = todo.pop()
        for index, statement in enumerate(block):
            if isinstance(statement, ast.Return):
                value = statement.value or ast.Constant(None)
                instead = ast.Expr(value)
                ast.copy_location(value, statement if statement.value is None else value)
                found.append((block, index, ast.copy_location(instead, statement)))
            elif not isinstance(statement, _OWN_SCOPE):
                todo += _blocks(statement)
    return found


_OWN_SCOPE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def _blocks(statement: ast.stmt) -> list[list[ast.stmt]]:
    """Return the blocks of a statement."""
    parts: list[ast.AST] = [statement]
    parts += getattr(statement, "handlers", ())
    parts += getattr(statement, "cases", ())
    names = ("body", "orelse", "finalbody")
    blocks = [getattr(part, name, None) for part in parts for name in names]
    return [block for block in blocks if isinstance(block, list)]


def _put_back(outline: Outline, replaced: list[_Replaced]) -> None:
    places = {(node.lineno, node.col_offset): node for node in outline.every(ast.Return)}
    for block, index, instead in replaced:
        block[index] = places[instead.lineno, instead.col_offset]


def _tried(text: str, make: Callable[[], _Made]) -> _Made | Remark:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the script's own escapes and literals
            return make()
    except SyntaxError as error:
        return _syntax_error(text, error)
    except (MemoryError, RecursionError):  # the compiler's error for very deep nesting
        longest = max(text.split("\n"), key=len)
        return too_deep(text.count("\n", 0, text.index(longest)) + 1)
    except ValueError as error:  # of a literal that is no number or no text
        return Remark(code="syntax-error", message=str(error), line=1, column=1)


def too_deep(line: int) -> Remark:
    """Return that a script is nested too deep."""
    return Remark(
        code="syntax-error",
        message=f"the code is nested too deep on line {line}",
        line=line,
        column=1,
        hint="give parts of it names, and put them together in several statements",
    )


def _syntax_error(text: str, error: SyntaxError) -> Remark:
    return Remark(
        code="syntax-error",
        message=error.msg.partition("; use sys.set_int_max_str_digits()")[0],
        line=min(max(error.lineno or 1, 1), text.count("\n") + 1),
        column=max(error.offset or 1, 1),
    )
