"""Values that may differ from the type checker's assumption.

The checker uses the last assignment in sight. It does not see that a function changes a variable
around it, or that other code puts another value into a dict, a list or an object.
"""

import ast

from .references import Resolver

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
        return resolver.binds_unseen or _is_shared(resolver, value.id)
    root = value
    while isinstance(root, ast.Attribute | ast.Subscript):
        root = root.value
    if root is value or not _puts_something_in(resolver):
        return False
    return not (isinstance(root, ast.Name) and _is_a_result(resolver, root))


def may_have_key(resolver: Resolver, key: object) -> bool:
    """Return whether a script may put a value into a dict under a key."""
    every = resolver.outline.every
    nodes = (*every(ast.Subscript), *every(ast.Attribute), *every(ast.AugAssign))
    return any(_may_put(node, key) for node in nodes)


def probes_key(resolver: Resolver, key: object) -> bool:
    """Return whether a script asks somewhere whether a dict has a key."""
    every = resolver.outline.every
    return any(_probes(node, key) for node in (*every(ast.Compare), *every(ast.Call)))


def _probes(node: ast.AST, key: object) -> bool:
    match node:
        case ast.Compare(left=ast.Constant(value=name), ops=[ast.In() | ast.NotIn(), *_]):
            return name == key
        case ast.Call(func=ast.Attribute(attr=method), args=[ast.Constant(value=name), *_]):
            return method in _PROBING and name == key
        case _:
            return False


_PROBING = frozenset({"get", "pop"})


def _may_put(node: ast.AST, key: object) -> bool:
    match node:
        case ast.Subscript(ctx=ast.Store(), slice=ast.Constant(value=name)):
            return name == key
        case ast.Subscript(ctx=ast.Store()) | ast.AugAssign(op=ast.BitOr()):
            return True
        case ast.Attribute(attr=name):
            return name in _FILLING
        case _:
            return False


_FILLING = frozenset({"__setitem__", "setdefault", "update"})


def _is_shared(resolver: Resolver, name: str) -> bool:
    """Return whether a function changes a variable of this name around it."""
    every = resolver.outline.every
    return any(name in node.names for node in (*every(ast.Global), *every(ast.Nonlocal)))


def _puts_something_in(resolver: Resolver) -> bool:
    every = resolver.outline.every
    if any(isinstance(node.ctx, ast.Store) for node in every(ast.Subscript)):
        return True
    attributes = every(ast.Attribute)
    return any(isinstance(n.ctx, ast.Store) or n.attr in _CHANGING for n in attributes)


def _is_a_result(resolver: Resolver, name: ast.Name) -> bool:
    """Return whether a name stands for the result of a call, and for nothing else."""
    outline = resolver.outline
    home = outline.binder(name.id, outline.scope(name))
    found = home.bindings[name.id] if home is not None else []
    return bool(found) and all(isinstance(binding.value, ast.Await) for binding in found)
