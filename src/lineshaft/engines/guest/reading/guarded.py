"""Code that a script guards: it goes on where that code fails."""

import ast
from collections.abc import Collection

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


def is_tried(resolver: Resolver, node: ast.AST, error: str) -> bool:
    """Return whether a script catches one error by its name, where a node raises it."""
    outline = resolver.outline
    while not isinstance(node, ast.Module):
        above = outline.above(node)
        if outline.field(node) == "body" and error in _caught_by_name(resolver, above):
            return True
        node = above
    return False


def _caught_by_name(resolver: Resolver, statement: ast.AST) -> Collection[str]:
    kinds: list[ast.expr | None] = []
    match statement:
        case ast.Try(handlers=handlers) | ast.TryStar(handlers=handlers):
            kinds = [handler.type for handler in handlers]
        case ast.With(items=items):
            for item in items:
                manager = item.context_expr
                if isinstance(manager, ast.Call) and _suppresses(resolver, manager):
                    kinds += manager.args
        case _:
            pass
    each = [kind.elts if isinstance(kind, ast.Tuple) else [kind] for kind in kinds]
    return {one.id for some in each for one in some if isinstance(one, ast.Name)}


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
