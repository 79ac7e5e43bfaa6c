"""Runs a program on plain CPython, with the names in scope that every script has."""

import ast
import asyncio
import contextlib
import datetime
import inspect
import io
import json
import math
import re
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from corpora.world import TOOLS, World, use
from lineshaft.engines.guest import helpers
from lineshaft.errors import ToolError

HERE = Path(__file__).parent
CORPORA = ("programs", "features")

Call = dict[str, Any]
"""`tool` and `arguments`."""

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass
class Observed:
    """What a program gave, said and did."""

    value: Any = None
    stdout: str = ""
    groups: list[list[Call]] = field(default_factory=list[list[Call]])
    """Calls in the order in which they were made; those of one fan-out are a group, whose order
    an engine may choose."""


def programs(corpus: str) -> dict[str, str]:
    """Return the programs of a corpus by name."""
    return {
        path.stem: path.read_text(encoding="utf-8")
        for path in sorted((HERE / corpus).glob("[0-9]*.py"))
    }


def expectations(corpus: str) -> dict[str, Any]:
    """Return what is committed: value, stdout and calls of each program."""
    return json.loads((HERE / f"{corpus}.json").read_text(encoding="utf-8"))


def observe(source: str, *, name: str) -> Observed:
    """Run one program.

    A program that awaits at its top level is run in a loop; one that does not is run as the
    plain program that it is, `asyncio.run` and all.
    """
    seen = Observed()
    recorder = _Recorder(seen)
    tree = ast.parse(source, name)
    in_loop = _awaits(tree)
    scope: dict[str, Any] = {"__name__": "__main__", **_names(recorder)}
    exec(compile(_wrapped(tree, source, is_async=in_loop), name, "exec"), scope)  # noqa: S102  our own programs
    printed = io.StringIO()
    quiet = contextlib.redirect_stderr(io.StringIO())
    with _modules(scope), contextlib.redirect_stdout(printed), quiet:
        given = scope["__program__"]()
        if in_loop:
            given = asyncio.run(given)
    seen.value = json.loads(json.dumps(given, allow_nan=False))
    assert _is_json(given), f"{name}: the value is not JSON-like: {given!r}"
    seen.stdout = printed.getvalue()
    return seen


def as_data(seen: Observed) -> dict[str, Any]:
    """Return what is committed of a program."""
    groups = [
        sorted(group, key=lambda call: json.dumps(call, sort_keys=True)) for group in seen.groups
    ]
    return {"value": seen.value, "stdout": seen.stdout, "calls": groups}


class _Recorder:
    """Keeps the calls of one run, those of a fan-out together."""

    def __init__(self, seen: Observed) -> None:
        self.world = World()
        self._seen = seen
        self._alive: set[asyncio.Task[Any]] = set()

    def function(self, name: str) -> Any:
        """Return a tool as a program sees it."""
        parameters = list(inspect.signature(TOOLS[name]).parameters.values())[1:]
        signature = inspect.Signature(parameters)

        async def tool(*args: Any, **kwargs: Any) -> Any:
            arguments = dict(signature.bind(*args, **kwargs).arguments)
            self._record({"tool": name, "arguments": json.loads(json.dumps(arguments))})
            try:
                return await use(name, self.world, arguments)
            except ToolError as error:
                error.tool = error.tool or name
                raise

        tool.__name__ = name.rpartition(".")[2]
        return tool

    def _record(self, call: Call) -> None:
        tasks = sorted(asyncio.all_tasks(), key=lambda task: int(task.get_name().split("-")[1]))
        others = set(tasks[1:])
        if others and self._alive & others:
            self._seen.groups[-1].append(call)
        else:
            self._seen.groups.append([call])
            self._alive = set()
        self._alive |= others


def _names(recorder: _Recorder) -> dict[str, Any]:
    modules: dict[str, ModuleType] = {"tools": ModuleType("tools")}
    flat: dict[str, Any] = {}
    for name in TOOLS:
        namespace, _, short = name.rpartition(".")
        function = recorder.function(name)
        if namespace:
            modules.setdefault(namespace, ModuleType(namespace)).__dict__[short] = function
        else:
            flat[short] = modules["tools"].__dict__[short] = function
    names = ("json_parse", "retry", "batched", "table")
    helping = {name: getattr(helpers, name) for name in names}
    standard = {m.__name__: m for m in (asyncio, json, math, re, datetime)}
    return {**standard, **flat, **modules, **helping, "ToolError": ToolError}


@contextlib.contextmanager
def _modules(scope: dict[str, Any]) -> Generator[None, None, None]:
    """Let a program import the modules of its tools."""
    mine = {n: m for n, m in scope.items() if isinstance(m, ModuleType) and n not in sys.modules}
    sys.modules.update(mine)
    try:
        yield
    finally:
        for name in mine:
            del sys.modules[name]


def _awaits(tree: ast.AST) -> bool:
    """Return whether something is awaited outside of functions."""
    waiting = (ast.Await, ast.AsyncFor, ast.AsyncWith)
    return any(
        isinstance(node, waiting)
        or (isinstance(node, ast.comprehension) and node.is_async)
        or (not isinstance(node, _FUNCTIONS) and _awaits(node))
        for node in ast.iter_child_nodes(tree)
    )


def _wrapped(tree: ast.Module, source: str, *, is_async: bool) -> ast.Module:
    """Make a function of a program: its names stay globals, its last expression its value."""
    body = list(_plain_assignments(tree.body))
    if body and isinstance(body[-1], ast.Expr):
        body[-1] = ast.copy_location(ast.Return(body[-1].value), body[-1])
    kind = ast.AsyncFunctionDef if is_async else ast.FunctionDef
    bound = sorted(_bound(tree.body))
    head: list[ast.stmt] = [ast.Global(bound)] if bound else []
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    function = kind(name="__program__", args=nothing, body=[*head, *body], decorator_list=[])
    return ast.fix_missing_locations(ast.Module([function], []))


def _plain_assignments(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Take the annotations off: a name that is global in a function may not have one."""
    for statement in body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            if statement.value is not None:
                made = ast.Assign(targets=[statement.target], value=statement.value)
                yield ast.copy_location(made, statement)
        else:
            yield statement


def _bound(body: list[ast.stmt]) -> set[str]:
    """Return the names that statements bind outside of functions and classes."""
    names: set[str] = set()
    for node in body:
        for inner in _outside(node):
            match inner:
                case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                    names.add(name)
                case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                    names.add(name)
                case ast.ClassDef(name=name) | ast.ExceptHandler(name=str(name)):
                    names.add(name)
                case ast.alias(name=name, asname=asname):
                    names.add((asname or name).split(".")[0])
                case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                    names.add(name)
                case ast.MatchMapping(rest=str(name)):
                    names.add(name)
                case _:
                    pass
    return names


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    if isinstance(node, (*_FUNCTIONS, ast.ClassDef)):
        return
    if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from (n for n in ast.walk(node) if isinstance(n, ast.NamedExpr) for n in [n.target])
        return
    for child in ast.iter_child_nodes(node):
        yield from _outside(child)


def _is_json(value: Any) -> bool:
    if isinstance(value, list | tuple):
        return all(map(_is_json, cast("list[Any]", value)))
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return all(isinstance(key, str) and _is_json(item) for key, item in items)
    return value is None or isinstance(value, bool | int | float | str)
