"""The tool that a value of a script came from."""

import ast

from .catalogue import KnownTool
from .references import Resolver

_FAR = 20
"""Values handed on more often than this are not followed."""


def tool_behind(resolver: Resolver, node: ast.expr) -> KnownTool | None:
    """Return the one tool whose result, or a part of it, an expression is."""
    found = _tools(resolver, node, _FAR)
    return found.pop() if len(found) == 1 else None


def _tools(resolver: Resolver, node: ast.expr, far: int) -> set[KnownTool | None]:
    """Return the tools behind an expression; None stands for anything else."""
    while isinstance(node, ast.Subscript | ast.Attribute | ast.Await):
        node = node.value
    if isinstance(node, ast.Call):
        ref = resolver.ref(node.func)
        return {ref.tool if ref else None}
    if not isinstance(node, ast.Name) or not far:
        return {None}
    outline = resolver.outline
    home = outline.binder(node.id, outline.scope(node))
    found: set[KnownTool | None] = set()
    for binding in home.bindings[node.id] if home else ():
        match outline.above(binding.node):
            case (
                ast.For(iter=value, target=target) | ast.comprehension(iter=value, target=target)
            ) if target is binding.node:
                pass
            case _:
                value = binding.value
        found |= _tools(resolver, value, far - 1) if value else {None}
    return found
