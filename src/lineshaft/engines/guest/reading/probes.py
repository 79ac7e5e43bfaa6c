"""Questions of a script whether there is a tool: what it asks for may be missing."""

import ast

from .references import Resolver


def is_probed(resolver: Resolver, module: str, name: str) -> bool:
    """Return whether a script asks somewhere whether a module of tools has a name.

    Args:
        resolver: Of the script.
        module: `tools` or a namespace.
        name: What may be missing there.
    """
    every = resolver.outline.every
    for node in every(ast.Call):
        match node.args:
            case [base, ast.Constant(value=asked), *rest] if asked == name:
                asks = "getattr" if rest else "hasattr"
                if _is(resolver, node.func, asks) and _is(resolver, base, module):
                    return True
            case _:
                pass
    for node in every(ast.Compare):
        match node:
            case ast.Compare(
                left=ast.Constant(value=asked), ops=[ast.In() | ast.NotIn()], comparators=[names]
            ) if asked == name and _lists(resolver, names, module):
                return True
            case _:
                pass
    return False


def _lists(resolver: Resolver, names: ast.expr, module: str) -> bool:
    """Return whether an expression gives the names of a module."""
    match names:
        case ast.Call(func=func, args=[]):
            return module == "tools" and _is(resolver, func, "dir")
        case ast.Call(func=func, args=[base]):
            is_listing = _is(resolver, func, "dir") or _is(resolver, func, "vars")
            return is_listing and _is(resolver, base, module)
        case ast.Attribute(value=base, attr="__all__" | "__dict__"):
            return _is(resolver, base, module)
        case _:
            return False


def _is(resolver: Resolver, node: ast.expr, name: str) -> bool:
    """Return whether an expression is a builtin or a module of this name."""
    ref = resolver.ref(node)
    return ref is not None and ref.kind in ("builtin", "module") and ref.name == name
