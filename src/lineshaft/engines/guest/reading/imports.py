"""The modules that a script imports, and which of these it can do without."""

import ast
from collections.abc import Iterator
from typing import Any

from .references import Resolver

_MISSING = frozenset({"ImportError", "ModuleNotFoundError"})


def imports(resolver: Resolver) -> Iterator[tuple[str, int, bool, list[str]]]:
    """Return module, line, whether it is optional, and the names taken from it, of each import."""
    known, every = resolver.known, resolver.outline.every
    for node in every(ast.Import):
        for alias in node.names:
            if not known.is_module(alias.name):
                yield alias.name, node.lineno, _is_optional(resolver, node), []
    for node in every(ast.ImportFrom):
        module = "." * node.level + (node.module or "")
        if not known.is_module(module):
            names = [alias.name for alias in node.names]
            yield module, node.lineno, _is_optional(resolver, node), names
    for call in resolver.outline.calls:
        ref = resolver.ref(call.func)
        if ref and ref.name in ("importlib.import_module", "__import__") and call.args:
            name: Any = getattr(call.args[0], "value", None)
            if isinstance(name, str) and name and not known.is_module(name):
                yield name, call.lineno, _is_optional(resolver, call), []


def _is_optional(resolver: Resolver, node: ast.AST) -> bool:
    """Return whether a script goes on where an import fails, or makes it for types alone."""
    outline = resolver.outline
    while node is not outline.tree:
        above, slot = outline.above(node), outline.field(node)
        handlers = above.handlers if isinstance(above, (ast.Try, ast.TryStar)) else []
        is_inside = slot in ("body", "handlers")
        if is_inside and any(_takes_missing(handler.type) for handler in handlers):
            return True
        if isinstance(above, ast.If) and slot == "body" and _is_for_types(resolver, above.test):
            return True
        node = above
    return False


def _takes_missing(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(isinstance(each, ast.Name) and each.id in _MISSING for each in kinds)


def _is_for_types(resolver: Resolver, test: ast.expr) -> bool:
    ref = resolver.ref(test) if isinstance(test, (ast.Name, ast.Attribute)) else None
    return ref is not None and ref.name == "typing.TYPE_CHECKING"
