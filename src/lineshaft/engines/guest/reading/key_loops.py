"""Loops over the keys of a dict: `for k in d`."""

import ast
from collections.abc import Iterator
from typing import Literal

from .references import Resolver

KeyUse = Literal["key", "text", "other"]
"""Used as a key of the dict; as any text; or as something else, such as the dict of an item."""

_OF_TEXT = frozenset(dir(str))


def use_of_keys(resolver: Resolver, loop: ast.For | ast.comprehension) -> KeyUse:
    """Return how a loop uses the keys of the dict that it goes over.

    Args:
        resolver: Of the script.
        loop: The loop, over a name.
    """
    match loop:
        case (
            ast.For(target=ast.Name() as key, iter=ast.Name(id=name))
            | ast.comprehension(target=ast.Name() as key, iter=ast.Name(id=name))
        ):
            found = {_use(resolver, use, name) for use in _uses(resolver, loop, key)}
            if "key" in found:
                return "key"
            return "text" if found == {"text"} else "other"
        case _:
            return "other"


def _uses(
    resolver: Resolver, loop: ast.For | ast.comprehension, key: ast.Name
) -> Iterator[ast.Name]:
    outline = resolver.outline
    home = outline.binder(key.id, outline.scope(key))
    for use in outline.uses.get((home, key.id), ()) if home else ():
        end = (loop.end_lineno or 0) if isinstance(loop, ast.For) else use.lineno
        if key.lineno <= use.lineno <= end:
            yield use


def _use(resolver: Resolver, key: ast.Name, name: str) -> KeyUse:
    """Return what one use of a key is for."""
    above = resolver.outline.above(key)
    match above:
        case (
            ast.Subscript(value=ast.Name(id=used))
            | ast.Call(func=ast.Attribute(value=ast.Name(id=used), attr="get"))
        ) if used == name:
            return "key"
        case ast.Attribute(attr=method):
            return "text" if method in _OF_TEXT else "other"
        case ast.Compare() | ast.FormattedValue():
            return "text"
        case ast.Call():
            ref = resolver.ref(above.func)
            is_print = ref is not None and (ref.kind, ref.name) == ("builtin", "print")
            return "text" if is_print else "other"
        case _:
            return "other"
