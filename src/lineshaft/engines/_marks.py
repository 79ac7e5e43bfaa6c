"""Which statements an error may come from that passes a `try`.

The small engine says of such an error that it happened at the `except` that did not catch it.
So each statement under a `try` notes its line first.
"""

import ast
from collections.abc import Iterable, Iterator

_SILENT = (ast.Global, ast.Nonlocal, ast.Pass, ast.Break, ast.Continue)
_ELSEWHERE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ALL = frozenset({"Exception", "BaseException"})


def lets_pass(node: ast.Try) -> bool:
    """Return whether some error may pass the handlers of a `try`."""
    return bool(node.handlers) and not any(
        handler.type is None or (isinstance(handler.type, ast.Name) and handler.type.id in _ALL)
        for handler in node.handlers
    )


def marked(body: Iterable[ast.stmt]) -> Iterator[ast.stmt | ast.expr]:
    """Yield simple statements, and the expressions that compound ones begin with."""
    for statement in body:
        if isinstance(statement, _ELSEWHERE + _SILENT):
            continue
        head = _head(statement)
        if head is not None:
            yield head
        blocks = list(_blocks(statement))
        if not blocks:
            yield statement
        for block in blocks:
            yield from marked(block)


def _head(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.If(test=head) | ast.While(test=head) | ast.Match(subject=head):
            return head
        case ast.For(iter=head) | ast.AsyncFor(iter=head):
            return head
        case ast.With(items=[first, *_]) | ast.AsyncWith(items=[first, *_]):
            return first.context_expr
        case _:
            return None


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if block:
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body
