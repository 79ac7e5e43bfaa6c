"""Code that a script guards: it goes on where that code fails."""

import ast
from collections.abc import Collection

from .references import Resolver
from .scopes import DEFS, DefNode


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
    """Return whether a script catches one error by its name, where a node raises it.

    What a function raises is caught where the script uses the function's name, too.
    """
    outline = resolver.outline
    function = _function_around(resolver, node)
    uses: list[ast.AST] = [node]
    if function is not None:
        home = outline.binder(function.name, outline.scope(function))
        uses += outline.uses.get((home, function.name), ()) if home else ()
        uses += outline.attributes.get(function.name, ())
    return any(_is_tried_here(resolver, use, error) for use in uses)


def _function_around(resolver: Resolver, node: ast.AST) -> DefNode | None:
    while not isinstance(node, (ast.Module, *DEFS)):
        node = resolver.outline.above(node)
    return None if isinstance(node, ast.Module) else node


def _is_tried_here(resolver: Resolver, node: ast.AST, error: str) -> bool:
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
                if isinstance(manager, ast.Call) and _takes_errors(resolver, manager):
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


def _takes_errors(resolver: Resolver, manager: ast.Call) -> bool:
    """Return whether a context manager goes on after the errors that it is given, or wants them."""
    name = manager.func.attr if isinstance(manager.func, ast.Attribute) else ""
    return name in _WANTING or _suppresses(resolver, manager)


_WANTING = frozenset({"assertRaises", "assertRaisesRegex", "raises"})
