"""Sets, whose order full Python chooses, and what else is changed in place by `|=` and the like."""

import ast

from lineshaft.scripts._choice_needs import Reader

_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference"})
_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)

_BLIND = frozenset(
    {"all", "any", "bool", "frozenset", "isinstance", "len", "set", "sorted", "sum", "type", "max",
     "min", "math.fsum", "math.prod"}
)  # fmt: skip  # words, not one a line
"""What does not see the order."""

_SEES = frozenset(
    {"enumerate", "filter", "iter", "list", "map", "next", "print", "repr", "reversed", "str",
     "tuple", "zip", "asyncio.gather"}
)  # fmt: skip  # words, not one a line

_DEEP = 8


def made(reader: Reader, node: ast.AST) -> None:
    """Look at an expression that gives a set."""
    assert isinstance(node, ast.expr)  # noqa: S101  the table says so
    if is_set(reader, node):
        _look(reader, node)


def named(reader: Reader, node: ast.AST) -> None:
    """Look at a name that may stand for a set."""
    assert isinstance(node, ast.Name)  # noqa: S101  the table says so
    if isinstance(node.ctx, ast.Load) and reader.above(node) is not None and is_set(reader, node):
        _look(reader, node)


def _look(reader: Reader, node: ast.expr) -> None:
    if _shows(reader, node):
        reader.need(node, "the order of a set", "doubt")


def is_set(reader: Reader, node: ast.expr, depth: int = 0) -> bool:
    """Return whether an expression gives a set, as far as reading can tell."""
    if depth > _DEEP:
        return False
    match node:
        case ast.Call():
            return _is_set_call(reader, node, depth)
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            both = is_set(reader, left, depth + 1) and is_set(reader, right, depth + 1)
            return both or _is_keys(left) or _is_keys(right)
        case ast.Name():
            return _is_bound_to_set(reader, node, depth)
        case _:
            return isinstance(node, ast.Set | ast.SetComp)


def _is_set_call(reader: Reader, node: ast.Call, depth: int) -> bool:
    if isinstance(node.func, ast.Attribute):
        return node.func.attr in _METHODS and is_set(reader, node.func.value, depth + 1)
    return reader.named(node.func) in ("set", "frozenset")


def _is_keys(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="keys")):
            return True
        case _:
            return False


def _is_bound_to_set(reader: Reader, node: ast.Name, depth: int) -> bool:
    reading = reader.resolver.reading
    home = reading.binder(node.id, reading.scopes[node])
    if home is None:
        return False
    key = home, node.id
    if key not in reader.sets:
        reader.sets[key] = False  # a name that is bound to itself ends here
        values = [binding.value for binding in home.bindings[node.id]]
        reader.sets[key] = any(v is not None and is_set(reader, v, depth + 1) for v in values)
    return reader.sets[key]


def _shows(reader: Reader, node: ast.expr, depth: int = 0) -> bool:
    """Return whether something sees in which order the items stand."""
    above, slot = reader.above(node), reader.slot(node)
    match above:
        case ast.Call() if slot == "args":
            return _shows_in_call(reader, above, depth)
        case ast.comprehension() if slot == "iter":
            around = reader.above(above)
            return not (isinstance(around, ast.SetComp) or _is_blind(reader, around, depth))
        case ast.Starred():
            return not isinstance(reader.above(above), ast.Set)
        case ast.For():
            return slot == "iter"
        case _:
            is_pop = isinstance(above, ast.Attribute) and above.attr == "pop"
            return is_pop or isinstance(above, ast.FormattedValue)


def _is_blind(reader: Reader, node: ast.AST | None, depth: int) -> bool:
    """Return whether a list, or what is gone through, goes to something that sees no order."""
    if not isinstance(node, ast.expr) or depth > _DEEP:
        return False
    above = reader.above(node)
    if isinstance(above, ast.Call) and reader.slot(node) == "args":
        return not _shows_in_call(reader, above, depth + 1)
    return False


def _shows_in_call(reader: Reader, call: ast.Call, depth: int) -> bool:
    name = reader.named(call.func)
    if name in _BLIND:
        return bool(call.keywords) and name in ("max", "min", "sorted")
    if name in ("list", "tuple", "map", "filter"):
        return not _is_blind(reader, call, depth)
    is_join = isinstance(call.func, ast.Attribute) and call.func.attr in ("join", "extend")
    return name in _SEES or is_join


def in_place(reader: Reader, node: ast.AST) -> None:
    """Look at `a |= b` and the like, where `a` may be known by another name too."""
    assert isinstance(node, ast.AugAssign)  # noqa: S101  the table says so
    target, value = node.target, node.value
    if isinstance(node.op, _OPERATORS):
        if is_set(reader, value) or is_set(reader, target):
            reader.feature(node, "sets that are changed in place")
        elif not isinstance(node.op, ast.Sub) and not _is_number(reader, target, value):
            reader.feature(node, "sets that are changed in place", "doubt")
    elif isinstance(node.op, ast.Mult) and _is_list(reader, target):
        reader.feature(node, "lists that are multiplied in place")
    elif isinstance(node.op, ast.Add) and isinstance(value, _NO_LIST) and _is_list(reader, target):
        reader.feature(node, "lists that take in what is no list")


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
