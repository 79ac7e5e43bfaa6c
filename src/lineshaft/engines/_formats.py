"""What a script formats that may have no format of its own: None, lists, errors."""

import ast
from collections.abc import Iterator
from string import Formatter

_SIMPLE = frozenset({"float", "int", "len", "repr", "round", "str"})
"""Builtins that give a number or a text."""


def has_format(node: ast.FormattedValue) -> bool:
    """Return whether a format is given in an f-string, and certainly not an empty one."""
    spec = node.format_spec
    return isinstance(spec, ast.JoinedStr) and any(isinstance(v, ast.Constant) for v in spec.values)


def may_be_any(node: ast.expr) -> bool:
    """Return whether an expression may give something else than a number or a text."""
    if isinstance(node, ast.Call):
        return not (isinstance(node.func, ast.Name) and node.func.id in _SIMPLE)
    return isinstance(node, ast.Name | ast.Subscript | ast.Attribute | ast.Await | ast.BoolOp)


def in_template(call: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments that `"{:>5}".format(x)` formats, each once."""
    match call.func:
        case ast.Attribute(value=ast.Constant(value=str(template)), attr="format"):
            named = {keyword.arg: keyword.value for keyword in call.keywords}
            wanted = _fields(template)
        case _:
            return
    if wanted and not any(isinstance(argument, ast.Starred) for argument in call.args):
        placed = {str(index): argument for index, argument in enumerate(call.args)}
        for name, node in {**placed, **named}.items():
            if name in wanted and may_be_any(node):
                yield node


def _fields(template: str) -> set[str]:
    """Return the fields of a template with a format; none where they cannot be told."""
    found: set[str] = set()
    count = 0
    try:
        for _, name, spec, conversion in Formatter().parse(template):
            if name is None:
                continue
            if spec and "{" in spec:
                return set()
            if spec and not conversion:
                found.add(name or str(count))
            count += not name
    except ValueError:
        return set()
    return found
