"""Code that a script guards: it goes on where that code fails."""

import ast

from .references import Resolver


def is_caught(resolver: Resolver, node: ast.expr) -> bool:
    """Return whether a failure of an expression is caught by the script."""
    outline = resolver.outline
    above: ast.AST = node
    while not isinstance(above, ast.Module):
        if outline.field(above) == "body" and _catches(resolver, outline.above(above)):
            return True
        above = outline.above(above)
    return False


def _catches(resolver: Resolver, statement: ast.AST) -> bool:
    match statement:
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            return bool(handlers)
        case ast.With(items=items):
            return any(_suppresses(resolver, item.context_expr) for item in items)
        case _:
            return False


def _suppresses(resolver: Resolver, manager: ast.expr) -> bool:
    ref = resolver.ref(manager.func) if isinstance(manager, ast.Call) else None
    return ref is not None and ref.name == "contextlib.suppress"
