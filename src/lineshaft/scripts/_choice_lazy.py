"""What full Python does step by step, and the small engine at once.

Generator expressions, and the results of `map`, `filter`, `zip`, `enumerate` and `reversed`, are
lists there. That is seen where a part is never asked for, or asked for between other things, or
where the whole is asked for twice.
"""

import ast
from typing import Literal

from lineshaft.scripts._choice_needs import Reader

Use = Literal["whole", "short", "step", "kept"]
"""All at once; until something is found; one by one, between other things; unknown."""

_WHOLE = frozenset(
    {"list", "tuple", "set", "frozenset", "dict", "sorted", "sum", "max", "min", "str",
     "asyncio.gather", "collections.Counter", "collections.deque", "math.prod", "math.fsum"}
)  # fmt: skip  # words, not one a line
_WHOLE_METHODS = frozenset(
    {"join", "extend", "update", "union", "intersection", "difference", "writerows"}
)
_SHORT = frozenset({"all", "any"})
_SHORTENING = frozenset(
    f"itertools.{name}" for name in ("compress", "groupby", "islice", "takewhile", "tee")
)
"""What may stop before the end."""

_STEPS = frozenset({"enumerate", "filter", "map", "reversed", "zip"})
"""Builtins whose result is a list here."""

_QUIET = frozenset({"abs", "bool", "callable", "isinstance", "len", "range", "repr", "str", "type"})
"""Builtins that do nothing but give a value, and that hardly fail."""

_QUIET_METHODS = frozenset(
    {"casefold", "count", "endswith", "find", "get", "isalnum", "isalpha", "isdecimal", "isdigit",
     "islower", "isnumeric", "isspace", "istitle", "isupper", "items", "keys", "lower", "lstrip",
     "removeprefix", "removesuffix", "replace", "rstrip", "split", "splitlines", "startswith",
     "strip", "title", "upper", "values"}
)  # fmt: skip  # words, not one a line
_CHANGES = frozenset(
    {"add", "append", "appendleft", "clear", "discard", "extend", "insert", "pop", "popleft",
     "remove", "reverse", "sort", "update"}
)  # fmt: skip  # words, not one a line

_DEEP = 20


def generator(reader: Reader, node: ast.AST) -> None:
    """Look at a generator expression."""
    assert isinstance(node, ast.GeneratorExp)  # noqa: S101  the table says so
    use = _use(reader, node)
    if use == "whole":
        return
    if use == "short" and is_quiet(reader, node):
        return
    if use == "step" and is_quiet(reader, node) and _in_comprehension(reader, node):
        return
    reader.need(node, "a generator expression that is not used up at once", "differs")


def steps(reader: Reader, node: ast.AST) -> None:
    """Look at a call that may give something to go through."""
    assert isinstance(node, ast.Call)  # noqa: S101  the table says so
    if not isinstance(node.func, ast.Name) or node.func.id not in (*_STEPS, "next"):
        return
    name = reader.named(node.func)
    if name == "next" and node.args and isinstance(node.args[0], ast.GeneratorExp | ast.Call):
        _next(reader, node, node.args[0])
    elif name in _STEPS:
        use = _use(reader, node)
        if use != "whole" and not _is_harmless(reader, node, name, use):
            reader.need(node, f"`{name}` that is not used up at once", "differs")


def _next(reader: Reader, node: ast.Call, source: ast.expr) -> None:
    of = reader.named(source.func) if isinstance(source, ast.Call) else ""
    if isinstance(source, ast.GeneratorExp) or of in _STEPS or of == "re.finditer":
        reader.need(node, "`next` of something to go through", "differs")


def _is_harmless(reader: Reader, node: ast.Call, name: str, use: Use) -> bool:
    if use == "kept":
        return False
    if name in ("map", "filter") and not (node.args and _is_quiet_function(reader, node.args[0])):
        return False
    return not any(_is_changed(reader, node, argument) for argument in node.args)


def _is_quiet_function(reader: Reader, node: ast.expr) -> bool:
    if isinstance(node, ast.Lambda):
        return is_quiet(reader, node.body)
    is_none = isinstance(node, ast.Constant) and node.value is None
    return is_none or reader.named(node) in _QUIET


def _is_changed(reader: Reader, node: ast.Call, source: ast.expr) -> bool:
    """Return whether a loop changes what it goes through."""
    if not isinstance(source, ast.Name):
        return False
    above: ast.AST | None = node
    while above is not None and not isinstance(above, ast.For):
        above = reader.above(above)
    if above is None:
        return False
    attributes = reader.resolver.reading.attributes
    return any(
        isinstance(found.value, ast.Name)
        and found.value.id == source.id
        and _is_called_in(reader, found, above)
        for change in _CHANGES
        for found in attributes.get(change, ())
    )


def _is_called_in(reader: Reader, attribute: ast.Attribute, loop: ast.For) -> bool:
    """Return whether a method is called in the body of a loop."""
    if not isinstance(reader.above(attribute), ast.Call) or reader.slot(attribute) != "func":
        return False
    node: ast.AST = attribute
    while (above := reader.above(node)) is not None and above is not loop:
        node = above
    return above is loop and reader.slot(node) == "body"


def _use(reader: Reader, node: ast.expr, depth: int = 0) -> Use:
    """Return how what an expression gives is gone through."""
    above, slot = reader.above(node), reader.slot(node)
    match above:
        case ast.Call() if slot == "args" and depth < _DEEP:
            return _use_of_call(reader, above, depth)
        case ast.Starred():
            return "whole"
        case ast.Assign(targets=[ast.Tuple() | ast.List()]):
            return "whole"
        case ast.For() | ast.comprehension() if slot == "iter":
            return "step"
        case ast.Compare(ops=[ast.In() | ast.NotIn()]) if slot == "comparators":
            return "short"
        case _:
            return "kept"


def _use_of_call(reader: Reader, call: ast.Call, depth: int) -> Use:
    name = reader.named(call.func)
    if name in _WHOLE:
        return "kept" if name == "str" else "whole"
    if name in _SHORT or name == "zip" or name in _SHORTENING:
        above = _use(reader, call, depth + 1) if name not in _SHORT else "short"
        return above if above == "kept" else "short"
    if name in _STEPS or name.startswith("itertools."):
        return _use(reader, call, depth + 1)
    is_method = isinstance(call.func, ast.Attribute) and call.func.attr in _WHOLE_METHODS
    return "whole" if is_method else "kept"


def _in_comprehension(reader: Reader, node: ast.expr) -> bool:
    return isinstance(reader.above(node), ast.comprehension)


def is_quiet(reader: Reader, node: ast.AST, depth: int = 0) -> bool:
    """Return whether evaluating an expression does nothing else, and hardly fails."""
    if depth > _DEEP:
        return False
    match node:
        case ast.Name() | ast.Constant() | ast.expr_context() | ast.operator() | ast.cmpop():
            return True
        case ast.Call():
            inner: list[ast.AST] = [*node.args, *(k.value for k in node.keywords)]
            if not _is_quiet_call(reader, node):
                return False
            if isinstance(node.func, ast.Attribute):
                inner.append(node.func.value)
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult()):
            inner = [node.left, node.right]
        case ast.GeneratorExp() | ast.ListComp() | ast.SetComp():
            inner = [node.elt, *node.generators]
        case ast.comprehension(is_async=0):
            inner = [node.iter, *node.ifs]
        case (
            ast.Attribute() | ast.BoolOp() | ast.Compare() | ast.IfExp() | ast.JoinedStr()
            | ast.FormattedValue() | ast.List() | ast.Set() | ast.Tuple() | ast.UnaryOp()
        ):  # fmt: skip  # kinds of nodes, not one a line
            inner = [n for n in ast.iter_child_nodes(node) if not isinstance(n, _SIGNS)]
        case _:
            return False
    return all(is_quiet(reader, part, depth + 1) for part in inner)


_SIGNS = (ast.expr_context, ast.boolop, ast.operator, ast.cmpop, ast.unaryop)


def _is_quiet_call(reader: Reader, node: ast.Call) -> bool:
    if isinstance(node.func, ast.Attribute):
        is_method = node.func.attr in _QUIET_METHODS and not reader.is_own(node.func.attr)
        return is_method and reader.ref(node.func) is None
    name = reader.named(node.func)
    return name in _QUIET or name in _SHORT
