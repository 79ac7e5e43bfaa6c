"""Whether a value may be another than the type checker takes it for.

The checker goes by what was assigned last where it looks. It does not see that a function changes
a variable around it, or that something puts another value into a dict, a list or an object.
"""

import ast

from lineshaft.scripts._names_refs import Resolver

_CHANGING = frozenset(
    {"__setattr__", "__setitem__", "add", "append", "extend", "insert", "setdefault", "update"}
)


def may_have_changed(resolver: Resolver, argument: ast.AST | None) -> bool:
    """Return whether an argument may have a value of a type that the checker does not know of.

    Args:
        resolver: Of the script.
        argument: The argument of a call.
    """
    value = argument.value if isinstance(argument, ast.keyword) else argument
    if isinstance(value, ast.Name):
        return _is_shared(resolver, value.id)
    root = value
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if root is value or not _puts_something_in(resolver):
        return False
    return not (isinstance(root, ast.Name) and _is_a_result(resolver, root))


def _is_shared(resolver: Resolver, name: str) -> bool:
    """Return whether a function changes a variable of this name around it."""
    return any(
        isinstance(node, ast.Global | ast.Nonlocal) and name in node.names
        for node in resolver.reading.nodes
    )


def _puts_something_in(resolver: Resolver) -> bool:
    return any(
        isinstance(node.ctx, ast.Store)
        or (isinstance(node, ast.Attribute) and node.attr in _CHANGING)
        for node in resolver.reading.nodes
        if isinstance(node, ast.Attribute | ast.Subscript)
    )


def _is_a_result(resolver: Resolver, name: ast.Name) -> bool:
    """Return whether a name stands for what a call gave, and for nothing else."""
    reading = resolver.reading
    home = reading.binder(name.id, reading.scopes[name])
    found = home.bindings[name.id] if home is not None else []
    return bool(found) and all(isinstance(binding.value, ast.Await) for binding in found)
