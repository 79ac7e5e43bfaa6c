"""A script as written -> text for the interpreter, and where each line of it came from.

The script becomes the body of one coroutine, whose names are global; `_rewrite` puts what the
interpreter's language lacks into terms that it has. The text is printed anew from the tree, one
statement a line, so lines are led back through the statements of both.
"""

import ast
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from lineshaft.engines._micropython._rewrite import Rewriter
from lineshaft.engines._reading import read
from lineshaft.values import Program, steadily

MODULES = ("asyncio", "json", "math", "re", "datetime")
"""Modules of the standard library in scope without an import."""

HELPERS = ("json_parse", "retry", "batched", "table")
"""Functions of `_helpers.py` in scope without an import."""

_NEEDS = {
    "json_parse": ("json", "re", "without_trailing_commas"),
    "table": ("table_row",),
    "retry": ("asyncio",),
}


@dataclass(frozen=True, slots=True)
class Lowered:
    """Text for the interpreter, and what must be known of it to understand what it says."""

    text: str
    lines: dict[int, int] = field(default_factory=dict[int, int])
    """Line of the script by line of the text."""

    names: tuple[str, ...] = ()
    """Modules to be bound before the script runs."""

    helpers: str = ""
    """Text of the helpers that it uses."""

    def line(self, number: int) -> int | None:
        """Return the line of the script that a line of the text came from."""
        return self.lines.get(number)


def normal(source: str) -> str:
    """Return source with the line ends and the beginning that Python reads."""
    return source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def parse(source: str) -> ast.Module:
    """Return the tree of a script, which may await and return at its top.

    Raises:
        SyntaxError: It is not Python; RecursionError, MemoryError and ValueError are turned
            into this one.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return steadily(lambda: _parsed(normal(source)))
    except (ValueError, RecursionError, MemoryError) as error:
        raise SyntaxError(str(error) or "too deeply nested") from None


def _parsed(source: str) -> ast.Module:
    tree = ast.parse(source)
    _compile(tree)
    return tree


def _compile(tree: ast.Module) -> None:
    """See what only the compiler of Python sees, such as `break` outside of a loop."""
    function = ast.AsyncFunctionDef(
        name="script",
        args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=[s for s in tree.body if not _is_star(s)] or [ast.Pass()],
        decorator_list=[],
    )
    module = ast.Module(body=[function], type_ignores=[])
    compile(ast.fix_missing_locations(module), "<script>", "exec", dont_inherit=True)


def _is_star(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and any(a.name == "*" for a in node.names)


def lower(program: Program, tree: ast.Module) -> Lowered:
    """Return a program in the interpreter's terms.

    Args:
        program: The script and what it may use.
        tree: The script as `parse` returns it; it is of no use afterwards.

    Raises:
        Lacking: The interpreter has nothing like something in it.
    """
    found = read(tree, program)
    free = found.used - set(program.inputs)
    modules = {"tools", *program.namespaces}
    wanted = (free & {*MODULES, *HELPERS}) - program.tools
    needed = wanted | {need for name in wanted for need in _NEEDS.get(name, ())}
    sources = _helper_sources()
    names = [name for name in MODULES if name in needed]
    names += sorted(name for name in modules if name in free)
    new = Rewriter(program, found).module(tree)
    text = ast.unparse(ast.fix_missing_locations(new))
    return Lowered(
        text=text,
        lines=_lines(new, steadily(lambda: ast.parse(text))),
        names=tuple(names),
        helpers="".join(source for name, source in sources.items() if name in needed),
    )


def _lines(written: ast.Module, printed: ast.Module) -> dict[int, int]:
    return {
        after.lineno: before.lineno
        for before, after in zip(_statements(written), _statements(printed), strict=True)
    }


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt):
            yield child
        if isinstance(child, ast.stmt | ast.ExceptHandler):
            yield from _statements(child)


@cache
def _helper_sources() -> dict[str, str]:
    text = (files("lineshaft.engines") / "_helpers.py").read_text(encoding="utf-8")
    nothing = Program(source="")
    sources: dict[str, str] = {}
    for node in steadily(lambda: ast.parse(text)).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            alone = ast.Module(body=[node], type_ignores=[])
            rewriter = Rewriter(nothing, read(alone, nothing))
            new = ast.Module(body=rewriter.block(alone.body), type_ignores=[])
            sources[node.name] = ast.unparse(ast.fix_missing_locations(new)) + "\n"
    return sources
