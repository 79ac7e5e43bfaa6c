"""Annotations: Pythons before 3.14 evaluate those of definitions, classes and the module."""

import ast
from collections.abc import Iterator

from .references import Resolver
from .scopes import COMPREHENSIONS, DEFS, Binding, NameScope, Outline

_MAYBE = (ast.For, ast.AsyncFor, ast.While, ast.Try, ast.If, ast.Match)
"""Statements that may skip or repeat what stands in them, or catch its error."""

_APART = (ast.Lambda, ast.IfExp, ast.BoolOp, *COMPREHENSIONS)
"""Expressions whose parts are not all evaluated, or have names of their own."""


def unbound_in_annotations(resolver: Resolver) -> Iterator[tuple[int, str, bool]]:
    """Yield line and name of what annotations need before it is bound, and whether it is later."""
    for name in _evaluated(resolver):
        if resolver.undefined(name):
            yield name.lineno, name.id, False
        elif not resolver.known.has(name.id) and _is_bound_later(resolver.outline, name):
            yield name.lineno, name.id, True


def _evaluated(resolver: Resolver) -> Iterator[ast.Name]:
    """Yield the names that are certainly looked up once an annotation is reached."""
    outline = resolver.outline
    if resolver.binds_unseen or any(_is_future(node) for node in outline.every(ast.ImportFrom)):
        return
    for annotation in _annotations(outline):
        for name in _names(annotation):
            if not any(isinstance(above, _MAYBE) for above in _above(outline, name)):
                yield name


def _is_future(node: ast.ImportFrom) -> bool:
    return node.module == "__future__" and any(a.name == "annotations" for a in node.names)


def _annotations(outline: Outline) -> Iterator[ast.expr]:
    for argument in outline.every(ast.arg):
        if argument.annotation:
            yield argument.annotation
    for kind in DEFS:
        yield from (node.returns for node in outline.every(kind) if node.returns)
    is_module = not _is_function(outline)
    for node in outline.every(ast.AnnAssign):
        home = outline.scope(node)
        if home.is_class or (home is outline.module and is_module):
            yield node.annotation


def _is_function(outline: Outline) -> bool:
    """Return whether a `return` before its end makes the script a function."""
    last = outline.tree.body[-1:]
    returns = outline.every(ast.Return)
    return any(outline.scope(node) is outline.module and node not in last for node in returns)


def _names(annotation: ast.expr) -> Iterator[ast.Name]:
    left: list[ast.AST] = [annotation]
    while left:
        node = left.pop()
        if isinstance(node, ast.Name):
            yield node
        elif not isinstance(node, _APART):
            left += ast.iter_child_nodes(node)


def _is_bound_later(outline: Outline, name: ast.Name) -> bool:
    """Return whether each binding of a name comes after it."""
    around = list(_above(outline, name))
    seen: NameScope | None = outline.scope(name)
    is_near, is_bound = True, False
    while seen and name.id not in seen.outer:
        bindings = seen.bindings.get(name.id, []) if is_near or not seen.is_class else []
        if not all(_is_later(outline, binding, seen, name, around) for binding in bindings):
            return False
        is_bound = is_bound or bool(bindings)
        if not seen.is_class and not seen.is_parameters:
            return bool(bindings) or (is_bound and seen is outline.module)
        is_near = is_near and seen.is_parameters
        seen = seen.parent
    return False


def _above(outline: Outline, node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that one stands in, up to the function whose body it is executed with."""
    above, field = outline.above(node), outline.field(node)
    while above is not outline.tree and not (isinstance(above, DEFS) and field == "body"):
        yield above
        above, field = outline.above(above), outline.field(above)


def _is_later(
    outline: Outline, binding: Binding, home: NameScope, name: ast.Name, around: list[ast.AST]
) -> bool:
    bound = binding.node
    if outline.scope(bound) is not home:  # it is bound from a function, whenever that is called
        return False
    place: tuple[int, int] = getattr(bound, "lineno", 0), getattr(bound, "col_offset", 0)
    is_definition = isinstance(bound, (*DEFS, ast.ClassDef))
    return (is_definition and bound in around) or place > (name.lineno, name.col_offset)
