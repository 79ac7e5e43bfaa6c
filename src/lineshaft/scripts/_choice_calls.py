"""Calls whose arguments the small engine takes otherwise, and what is asked of values."""

import ast

from lineshaft.scripts._choice_names import EXCEPTIONS, methods
from lineshaft.scripts._choice_needs import Reader
from lineshaft.scripts._names_scopes import DEFS, FUNCTIONS

_ASKING = {"getattr": 3, "hasattr": 2}
"""Builtins that ask for an attribute by name, with the arguments that a silent answer takes."""

_WITH_MODULUS = 3


def call(reader: Reader, node: ast.AST) -> None:
    """Look at the order of keywords, and at some builtins."""
    assert isinstance(node, ast.Call)  # noqa: S101  the table says so
    if len(node.keywords) > 1:
        _keywords(reader, node)
    function = node.func
    name = reader.named(function)
    if name == "collections.namedtuple" and _writes_json(reader):
        reader.doubt(node, "named tuples in JSON")
    elif name == "asyncio.gather" and _goes_on(reader, node):
        reader.need(node, "what goes on after `asyncio.gather` failed", "doubt")
    if not isinstance(function, ast.Name) or function.id not in _LOOKS:
        return
    if look := _LOOKS.get(name):
        look(reader, node)


def _goes_on(reader: Reader, node: ast.Call) -> bool:
    """Return whether functions of the script are gathered whose error is caught around them.

    In full Python the others go on; the small engine leaves them, and those it has not begun.
    """
    inside = [inner for argument in node.args for inner in ast.walk(argument)]
    if not any(isinstance(inner, ast.Call) and _is_own(reader, inner) for inner in inside):
        return False
    below: ast.AST = node
    above = reader.above(node)
    while above is not None and not isinstance(above, FUNCTIONS):
        if isinstance(above, ast.Try) and above.handlers and reader.slot(below) == "body":
            return True
        below, above = above, reader.above(above)
    return isinstance(above, DEFS) and _is_tried(reader, above.name)


def _is_tried(reader: Reader, name: str) -> bool:
    """Return whether a function of this name is called where errors are caught."""
    for call in reader.resolver.reading.calls:
        function = call.func
        if name in (getattr(function, "id", ""), getattr(function, "attr", "")):
            below: ast.AST = call
            while (above := reader.above(below)) is not None:
                if isinstance(above, ast.Try) and above.handlers and reader.slot(below) == "body":
                    return True
                below = above
    return False


def _is_own(reader: Reader, call: ast.Call) -> bool:
    ref = reader.ref(call.func)
    return ref.kind in ("def", "lambda") if ref is not None else not reader.named(call.func)


def _writes_json(reader: Reader) -> bool:
    calls = reader.resolver.reading.calls
    return any(reader.named(call.func) in ("json.dump", "json.dumps") for call in calls)


def _keywords(reader: Reader, node: ast.Call) -> None:
    """Look for `f(**more, a=1)`: the small engine puts what is named first."""
    names = [keyword.arg for keyword in node.keywords]
    if None not in names or all(name is None for name in names[names.index(None) :]):
        return
    ref = reader.ref(node.func)
    if ref is None or ref.kind != "tool":
        reader.feature(node, "keywords behind `**`")


def _asks(reader: Reader, node: ast.Call) -> None:
    """Look at `hasattr(x, 'items')`: methods are no values there."""
    assert isinstance(node.func, ast.Name)  # noqa: S101  the caller says so
    if len(node.args) < _ASKING[node.func.id]:
        return
    name = node.args[1]
    if not isinstance(name, ast.Constant):
        reader.doubt(node, "`hasattr` of a method")
    elif isinstance(name.value, str) and not reader.is_own(name.value):
        has = name.value in methods(reader) or name.value in reader.subset.unseen
        if has or name.value.startswith("__"):
            reader.feature(node, "`hasattr` of a method")


def _pow(reader: Reader, node: ast.Call) -> None:
    if len(node.args) == _WITH_MODULUS and isinstance(node.args[1], ast.UnaryOp):
        reader.feature(node, "the inverse of a number (`pow`)")


def _type(reader: Reader, node: ast.Call) -> None:
    """Look at `type(e) is ValueError`, which is never so there."""
    above = reader.above(node)
    is_named = isinstance(above, ast.Attribute) and above.attr == "__name__"
    if len(node.args) != 1 or is_named:
        return
    if isinstance(above, ast.Compare):
        beside = [n for part in (above.left, *above.comparators) for n in ast.walk(part)]
        if any(isinstance(n, ast.Name) and reader.named(n) in EXCEPTIONS for n in beside):
            reader.feature(node, "`type` of an error")
    elif _is_caught(reader, node.args[0]):
        reader.feature(node, "`type` of an error")


def _is_caught(reader: Reader, node: ast.expr) -> bool:
    """Return whether an expression is the name of a caught error."""
    if not isinstance(node, ast.Name):
        return False
    reading = reader.resolver.reading
    home = reading.binder(node.id, reading.scopes[node])
    found = home.bindings[node.id] if home else []
    return any(isinstance(binding.node, ast.ExceptHandler) for binding in found)


_LOOKS = {"getattr": _asks, "hasattr": _asks, "pow": _pow, "type": _type}


def parameters(reader: Reader, node: ast.AST) -> None:
    """Look at the parameters of a function: `def f(a, /, **more)`, and `f(1, a=2)`."""
    assert isinstance(node, ast.arguments)  # noqa: S101  the table says so
    if not (node.posonlyargs and node.kwarg):
        return
    names = {None, *(argument.arg for argument in node.posonlyargs)}
    if any(
        keyword.arg in names for call in reader.resolver.reading.calls for keyword in call.keywords
    ):
        reader.feature(node.posonlyargs[0], "parameters by position beside `**`")
