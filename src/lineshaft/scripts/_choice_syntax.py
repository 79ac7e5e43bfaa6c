"""Syntax that the small engine may lack, by node."""

import ast
from collections.abc import Callable

from lineshaft.scripts._choice_needs import Reader

Read = Callable[[Reader, ast.AST], None]


def _is(name: str) -> Read:
    """Return a reader that takes every node of a kind for one feature."""

    def read(reader: Reader, node: ast.AST) -> None:
        reader.feature(node, name)

    return read


def _function(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)  # noqa: S101  the table says so
    in_class = isinstance(reader.above(node), ast.ClassDef)
    if in_class:
        _method(reader, node)
    elif node.decorator_list:
        reader.feature(node, "function decorators")
    if in_class and isinstance(node, ast.AsyncFunctionDef):
        reader.feature(node, "async methods")
    if getattr(node, "type_params", None):
        reader.feature(node, "type parameters")


def _method(reader: Reader, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
    if node.decorator_list:
        reader.feature(node.decorator_list[0], "method decorators")
    name = node.name
    is_special = name.startswith("__") and name.endswith("__")
    if is_special and name not in reader.subset.methods:
        reader.need(node, f"the method `{name}`")


def _class(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.ClassDef)  # noqa: S101  the table says so
    if node.bases:
        reader.feature(node, "class inheritance")
    if node.keywords:
        reader.feature(node, "keywords of a class")
    if node.decorator_list:
        reader.feature(node, "class decorators")
    if getattr(node, "type_params", None):
        reader.feature(node, "type parameters")
    for statement in node.body:
        _in_class(reader, statement)
    methods = {s.name for s in node.body if isinstance(s, ast.FunctionDef)}
    if "__getitem__" in methods and "__iter__" not in methods:
        reader.feature(node, "iteration by `__getitem__`")


def _in_class(reader: Reader, node: ast.stmt) -> None:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Pass():
            return
        case ast.ClassDef():
            reader.feature(node, "nested classes")
        case ast.Expr(value=ast.Constant()):
            reader.feature(node, "docstrings in a class")
        case ast.Assign(targets=targets):
            _values(reader, node, targets)
        case ast.AnnAssign(value=value, target=ast.Name()):
            reader.feature(node, "values in a class" if value else "annotations in a class")
        case _:
            reader.feature(node, "statements in a class")


def _values(reader: Reader, node: ast.stmt, targets: list[ast.expr]) -> None:
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    if len(names) < len(targets):
        reader.feature(node, "tuples of names in a class")
    for name in names:
        if name.startswith("__"):
            reader.feature(node, "`__slots__`", "doubt")
        else:
            reader.feature(node, "values in a class")


def _dict(reader: Reader, node: ast.AST) -> None:
    """Look for keys such as `1` and `True`."""
    assert isinstance(node, ast.Dict)  # noqa: S101  the table says so
    keys = [key.value for key in node.keys if isinstance(key, ast.Constant)]
    numbers = [key for key in keys if isinstance(key, int | float)]
    if len(set(numbers)) < len({(type(key), key) for key in numbers}):
        reader.feature(node, "keys that are equal")


def _delete(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.Delete)  # noqa: S101  the table says so
    for target in node.targets:
        if isinstance(target, ast.Subscript):
            is_slice = isinstance(target.slice, ast.Slice)
            reader.feature(node, "`del` of a slice" if is_slice else "`del` of an item")
        else:
            is_name = isinstance(target, ast.Name)
            reader.feature(node, "`del` of a name" if is_name else "`del` of an attribute")


def _yield(reader: Reader, node: ast.AST) -> None:
    function = reader.resolver.reading.scopes[node].function.node
    is_async = isinstance(function, ast.AsyncFunctionDef)
    reader.feature(node, "async generators" if is_async else "generators")


def _comprehension(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.comprehension)  # noqa: S101  the table says so
    if node.is_async:
        reader.feature(node.target, "async comprehensions")


def _loop(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.For | ast.While)  # noqa: S101  the table says so
    if node.orelse:
        reader.feature(node, "loops with `else`")


def _import_from(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.ImportFrom)  # noqa: S101  the table says so
    of_tools = reader.resolver.known.is_module(node.module or "")
    if node.level:
        reader.feature(node, "relative imports")
    elif node.module == "__future__":
        reader.feature(node, "`from __future__`")
    elif not of_tools and any(alias.name == "*" for alias in node.names):
        reader.feature(node, "star imports")


def _constant(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.Constant)  # noqa: S101  the table says so
    if isinstance(node.value, complex):
        reader.feature(node, "complex numbers")
    elif node.value is ...:
        reader.feature(node, "`...`")
    elif isinstance(node.value, str) and not node.value.isascii():
        _digits(reader, node, node.value)


def _digits(reader: Reader, node: ast.Constant, text: str) -> None:
    if any(sign.isdecimal() and not sign.isascii() for sign in text):
        reader.doubt(node, "digits beyond ASCII")


def _operator(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.BinOp | ast.AugAssign)  # noqa: S101  the table says so
    if isinstance(node.op, ast.MatMult):
        reader.feature(node, "`@`" if isinstance(node, ast.BinOp) else "`@=`")


def _assign(reader: Reader, node: ast.AST) -> None:
    """Look for `f.x = 1` on a function."""
    assert isinstance(node, ast.Assign)  # noqa: S101  the table says so
    for target in node.targets:
        if isinstance(target, ast.Attribute):
            ref = reader.ref(target.value)
            if ref is not None and ref.kind in ("def", "lambda"):
                reader.feature(target, "attributes of a function")


def _subscript(reader: Reader, node: ast.AST) -> None:
    assert isinstance(node, ast.Subscript)  # noqa: S101  the table says so
    index = node.slice
    if isinstance(index, ast.Tuple) and any(isinstance(e, ast.Starred) for e in index.elts):
        reader.feature(node, "stars in a subscript")


SYNTAX: dict[type[ast.AST], Read] = {
    ast.FunctionDef: _function,
    ast.AsyncFunctionDef: _function,
    ast.ClassDef: _class,
    ast.Delete: _delete,
    ast.Yield: _yield,
    ast.YieldFrom: _is("`yield from`"),
    ast.With: _is("`with`"),
    ast.AsyncWith: _is("`async with`"),
    ast.AsyncFor: _is("`async for`"),
    ast.comprehension: _comprehension,
    ast.For: _loop,
    ast.While: _loop,
    ast.Try: _is("`try`"),
    ast.TryStar: _is("`except*`"),
    ast.Match: _is("`match`"),
    ast.MatchMapping: _is("`match` on a dict"),
    ast.MatchClass: _is("`match` on a class"),
    ast.MatchValue: _is("`match` on a value"),
    ast.Global: _is("`global`"),
    ast.Nonlocal: _is("`nonlocal`"),
    ast.NamedExpr: _is("`:=`"),
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.BinOp: _operator,
    ast.AugAssign: _operator,
    ast.Assign: _assign,
    ast.Subscript: _subscript,
    ast.ImportFrom: _import_from,
}
"""What each kind of node may need."""

if _alias := getattr(ast, "TypeAlias", None):
    SYNTAX[_alias] = _is("`type` aliases")
