"""Test for a type that is certainly wrong for a parameter, from the type checker's words.

The checker is stricter than the tools: a union of which one member fits, a plain dict where a
`TypedDict` is asked for, and the like pass the tools' own validation. Only types that cannot be
right count as wrong; unknown types count as right.
"""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

_LISTS = frozenset({"list", "List", "Sequence", "Iterable", "Collection", "tuple"})
_SCALARS = frozenset({"str", "int", "float", "bool", "None"})
_FITS: dict[str, frozenset[str]] = {
    "bool": frozenset({"bool", "int", "float"}),
    "int": frozenset({"int", "float"}),
    "float": frozenset({"int", "float"}),
}


_NEVER_DATA = re.compile(r"def |bound method |<class |<module |\(.*\) -> ", re.DOTALL)
_INFERRED = re.compile(r"(?<=\w)\*")
"""The checker marks types that it guessed: `float*`."""


def certainly_wrong(found: str, expected: str, *, records: Collection[str] = ()) -> bool:
    """Return whether a value of one type can never be taken for another.

    Args:
        found: Type of the value, as the checker writes it.
        expected: Type of the parameter.
        records: Names of types that are dicts.
    """
    wanted = _parsed(expected)
    if wanted is None or any(_name(want) in ("Any", "object") for want in _members(wanted)):
        return False
    if _NEVER_DATA.match(found):
        return True
    value = _parsed(found)
    members = list(_members(value)) if value else []
    if len(members) != 1:
        return False
    known = _Kinds(records)
    return all(known.clash(members[0], want) for want in _members(wanted))


def is_coroutine(found: str) -> bool:
    """Return whether a type is that of a call that was not awaited."""
    value = _parsed(found)
    return value is not None and _name(value) == "CoroutineType"


def _parsed(text: str) -> ast.expr | None:
    try:
        return ast.parse(_INFERRED.sub("", text), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


def _members(node: ast.expr) -> Iterator[ast.expr]:
    """Return the members of a union."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        yield node.right
        node = node.left
    yield node


def _name(node: ast.expr) -> str:
    if isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    return node.id if isinstance(node, ast.Name) else ""


def _values(node: ast.expr) -> list[object] | None:
    """Return the values of a `Literal[...]`, or None."""
    if not (isinstance(node, ast.Subscript) and _name(node) == "Literal"):
        return None
    items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    try:
        return [ast.literal_eval(item) for item in items]
    except ValueError:
        return None


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Compares types that are no unions."""

    records: Collection[str]

    def clash(self, value: ast.expr, wanted: ast.expr) -> bool:
        """Return whether one type can never be another."""
        given, allowed = _values(value), _values(wanted)
        if given is not None and allowed is not None:
            return not any(v in allowed for v in given)
        kind, want = self._kind(value, given), self._kind(wanted, allowed)
        if kind == want and kind in ("list", "dict"):
            return self._items_clash(_item(value, kind), _item(wanted, kind))
        return bool(kind and want) and want not in _FITS.get(kind, {kind})

    def _kind(self, node: ast.expr, values: list[object] | None) -> str:
        """Return a scalar, `list`, `dict`, or an empty text where a type is not known."""
        if values is not None:
            kinds = {type(v).__name__.replace("NoneType", "None") for v in values}
            return kinds.pop() if len(kinds) == 1 else ""
        name = _name(node)
        if name in _LISTS:
            return "list"
        if name in self.records or name in ("dict", "Mapping"):
            return "dict"
        return name if name in _SCALARS else ""

    def _items_clash(self, value: ast.expr | None, wanted: ast.expr | None) -> bool:
        if value is None or wanted is None:
            return False
        members = list(_members(value))
        return len(members) == 1 and all(self.clash(members[0], w) for w in _members(wanted))


def _item(node: ast.expr, kind: str) -> ast.expr | None:
    """Return the type of a list's items, or of a dict's values; None where it is not told."""
    if not isinstance(node, ast.Subscript):
        return None
    inside = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return inside[-1] if len(inside) == (1 if kind == "list" else 2) else None
