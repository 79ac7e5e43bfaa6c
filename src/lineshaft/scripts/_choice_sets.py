"""The order of sets, which full Python chooses, and what `|=` and the like change in place."""

import ast

from lineshaft.scripts._choice_flow import OPERATORS, Flow
from lineshaft.scripts._choice_needs import Reader


def order(reader: Reader, node: ast.AST) -> None:
    """Look at all sets of a script."""
    del node
    flow = reader.sets = Flow(reader)
    for shown in flow.shown:
        reader.need(shown, "the order of a set", "doubt")


def in_place(reader: Reader, node: ast.AST) -> None:
    """Look at `a |= b` and the like, where `a` may be known by another name too."""
    assert isinstance(node, ast.AugAssign)  # noqa: S101  the table says so
    target, value = node.target, node.value
    if isinstance(node.op, OPERATORS):
        if reader.sets and (reader.sets.has(value) or reader.sets.has(target)):
            reader.feature(node, "sets that are changed in place")
        elif not isinstance(node.op, ast.Sub) and not _is_number(reader, target, value):
            reader.feature(node, "sets that are changed in place", "doubt")
    elif isinstance(node.op, ast.Mult):
        _multiplied(reader, node)
    elif isinstance(node.op, ast.Add) and isinstance(value, _NO_LIST) and _is_list(reader, target):
        reader.feature(node, "lists that take in what is no list")


def _multiplied(reader: Reader, node: ast.AugAssign) -> None:
    """Look at `a *= b`, where `a` may be a list."""
    by = node.value
    if _is_list(reader, node.target):
        reader.feature(node, "lists that are multiplied in place")
    elif isinstance(by, ast.Constant) and not isinstance(by.value, int):
        return
    elif not isinstance(by, _NUMBERS) and not _bound(reader, node.target):
        reader.doubt(node, "lists that are multiplied in place")


_NUMBERS = (ast.BinOp, ast.UnaryOp)
"""What multiplies numbers, as far as anybody writes it."""

_NO_LIST = (ast.Tuple, ast.Constant, ast.JoinedStr, ast.Set, ast.Dict)
_NO_SET = (ast.Constant, ast.Compare, ast.Dict, ast.DictComp, ast.BoolOp)


def _is_number(reader: Reader, target: ast.expr, value: ast.expr) -> bool:
    """Return whether it can be seen that numbers, truths or dicts are put together."""
    return isinstance(value, _NO_SET) or any(
        isinstance(bound, _NO_SET) for bound in _bound(reader, target)
    )


def _is_list(reader: Reader, target: ast.expr) -> bool:
    return any(
        isinstance(bound, ast.List | ast.ListComp)
        or (isinstance(bound, ast.Call) and reader.named(bound.func) in ("list", "sorted"))
        for bound in _bound(reader, target)
    )


def _bound(reader: Reader, node: ast.expr) -> list[ast.expr]:
    """Return what a name is bound to, as far as reading can tell."""
    if not isinstance(node, ast.Name):
        return []
    reading = reader.resolver.reading
    home = reading.binder(node.id, reading.scopes[node])
    found = home.bindings[node.id] if home is not None else []
    return [binding.value for binding in found if binding.value is not None]
