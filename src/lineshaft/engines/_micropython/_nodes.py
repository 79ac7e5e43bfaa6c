"""Small pieces of trees, and what is read off them."""

import ast
from collections.abc import Iterable
from typing import TypeVar, cast

from lineshaft.values import Program

N = TypeVar("N", bound=ast.AST)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def call(name: str, *arguments: ast.expr) -> ast.Call:
    """Return a call of one of our functions."""
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(arguments), keywords=[])


def name(text: str) -> ast.Name:
    """Return a name that is read."""
    return ast.Name(id=text, ctx=ast.Load())


def constant(value: str | int | None) -> ast.Constant:
    """Return a constant."""
    return ast.Constant(value=value)


def joined(pieces: list[ast.expr]) -> ast.expr:
    if not pieces:
        return constant("")
    if len(pieces) == 1:
        return pieces[0]
    empty = ast.Attribute(constant(""), "join", ast.Load())
    return ast.Call(empty, [ast.Tuple(pieces, ast.Load())], [])


def mirror(theirs: str, ours: str) -> ast.stmt:
    """Return a method that compares the other way round: the interpreter does not try that."""
    own, other = ast.arg("self"), ast.arg("other")
    compared = ast.Call(ast.Attribute(name("other"), ours, ast.Load()), [name("self")], [])
    arguments = no_arguments()
    arguments.args = [own, other]
    return ast.FunctionDef(theirs, arguments, [ast.Return(compared)], [], lineno=1, col_offset=0)


def classes(node: ast.expr) -> ast.expr:
    """Return `a | b` as `(a, b)`."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
        return ast.copy_location(
            ast.Tuple([classes(node.left), classes(node.right)], ast.Load()), node
        )
    if isinstance(node, ast.Constant) and node.value is None:
        return ast.copy_location(ast.Call(name("type"), [node], []), node)
    return node


def placed(node: N, at: ast.expr) -> N:
    for part in ast.walk(node):
        if isinstance(part, ast.stmt) and not hasattr(part, "lineno"):
            ast.copy_location(part, at)
    return node


def guarded(body: list[ast.stmt]) -> ast.stmt:
    """Return a block that ends the run where memory ran out, before anything is cleaned up."""
    check = ast.Expr(call("_ls_caught", name("_ls_e")))
    kinds = ast.Tuple([name("MemoryError"), name("OverflowError")], ast.Load())
    handler = ast.ExceptHandler(kinds, "_ls_e", [check, ast.Raise(None, None)])
    new = ast.Try(body, [handler], [], [])
    for part in (new, check, handler.body[1]):
        ast.copy_location(part, body[0])
    return new


def may_catch_memory_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    kinds = {part.id for part in ast.walk(handler.type) if isinstance(part, ast.Name)}
    return not kinds or bool(
        kinds & {"Exception", "BaseException", "MemoryError", "OverflowError", "ArithmeticError"}
    )


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
        return body[1:] or [ast.copy_location(ast.Pass(), first)]
    return body


def no_arguments(*names: str) -> ast.arguments:
    return ast.arguments(
        posonlyargs=[],
        args=[ast.arg(text) for text in names],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )


def awaits(node: ast.expr) -> bool:
    """Return whether a comprehension awaits; not in its first source, which is outside of it."""
    generators = cast("list[ast.comprehension]", getattr(node, "generators", []))
    first = generators[0].iter
    own = [part for part in ast.walk(node) if part is not first]
    outside = set(ast.walk(first))
    return any(g.is_async for g in generators) or any(
        isinstance(part, ast.Await) and part not in outside for part in own
    )


def within(node: ast.AST) -> Iterable[ast.AST]:
    """Yield what belongs to a function itself, not to those defined in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            yield from within(child)


def bound_names(body: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind in their own scope."""
    names: set[str] = set()
    for statement in body:
        for node in (statement, *_inside(statement)):
            names |= _binds(node)
    return names


def _inside(node: ast.AST) -> Iterable[ast.AST]:
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(node, _COMPREHENSIONS) and not isinstance(child, ast.NamedExpr):
            yield from (n for n in ast.walk(child) if isinstance(n, ast.NamedExpr))
            continue
        yield child
        yield from _inside(child)


def _binds(node: ast.AST) -> set[str]:
    names: list[str | None]
    match node:
        case (
            ast.Name(id=text, ctx=ast.Store() | ast.Del()) | ast.NamedExpr(target=ast.Name(id=text))
        ):
            names = [text]
        case ast.FunctionDef(name=text) | ast.AsyncFunctionDef(name=text) | ast.ClassDef(name=text):
            names = [text]
        case ast.ExceptHandler(name=text) | ast.MatchAs(name=text) | ast.MatchStar(name=text):
            names = [text]
        case ast.MatchMapping(rest=text):
            names = [text]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            names = [(a.asname or a.name).partition(".")[0] for a in aliases if a.name != "*"]
        case _:
            names = []
    return {text for text in names if text}


def star_imports(body: Iterable[ast.stmt]) -> list[ast.ImportFrom]:
    return [
        s for s in body if isinstance(s, ast.ImportFrom) and any(a.name == "*" for a in s.names)
    ]


def star(node: ast.ImportFrom) -> ast.expr:
    return call("_ls_star", constant(node.module or ""), call("globals"))


def takes_tools_as_values(program: Program, tree: ast.AST) -> bool:
    """Return whether a tool is named where it is not called on the spot."""
    names = program.tools | {"tools"} | set(program.namespaces)
    called = {
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        for part in (node.func, getattr(node.func, "value", None))
    }
    return any(
        isinstance(node, ast.Name) and node.id in names and node not in called
        for node in ast.walk(tree)
    ) or any(isinstance(node, ast.ImportFrom) and node.module in names for node in ast.walk(tree))


def dict_of(node: ast.Call) -> ast.expr:
    """Return `dict(x, a=1, **b)` in a form that keeps the order of the keywords."""
    parts: list[ast.expr] = []
    if node.args:
        parts.append(ast.List([call("_ls_dict", *node.args)], ast.Load()))
    for keyword in node.keywords:
        if keyword.arg is None:
            parts.append(ast.List([keyword.value], ast.Load()))
        else:
            parts.append(ast.Tuple([constant(keyword.arg), keyword.value], ast.Load()))
    return call("_ls_merge", *parts)


def may_be_tool(function: ast.expr) -> bool:
    return not isinstance(function, ast.Attribute | ast.Call)
