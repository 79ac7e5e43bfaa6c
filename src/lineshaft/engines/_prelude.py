"""The lines that the small engine puts before a script: only what the script names."""

import ast
import sys
from functools import cache
from importlib.resources import files

from lineshaft.values import steadily

MODULES = ("asyncio", "json", "math", "re", "datetime")
"""Modules of the standard library in scope without an import."""

HELPERS = ("json_parse", "retry", "batched", "table")
"""Functions of `_helpers.py` in scope without an import."""

BUILTINS = ("format", "round", "sum")
"""Builtins that lines here may put others in the place of."""

TOOL_ERROR = "import csv as _ls_csv\nToolError = _ls_csv.Error"
"""The one exception the engine has that is no relative of those a script raises by itself."""

VIEW = """
class ToolError:
    def __init__(self, facts):
        self.code, self.tool, self.message = facts
        self.args = (self.message,)
    def __str__(self):
        return self.message
    def __repr__(self):
        return "ToolError(" + repr(self.message) + ")"
_ls_View = ToolError
def _ls_te(error):
    return _ls_View(_ls_error(str(error))) if isinstance(error, _ls_csv.Error) else error
"""
"""What stands in for a caught error where the script looks into it."""

LATER = """
_ls_made = {}
_ls_count = [0]
async def _ls_go(key, call, args, kwargs):
    return await call(*args, **kwargs, _ls_line=_ls_made.pop(key))
def _ls_later(line, call, *args, **kwargs):
    _ls_count[0] += 1
    _ls_made[_ls_count[0]] = line
    return _ls_go(_ls_count[0], call, args, kwargs)
"""
"""A call that is made now and awaited later, or never."""

MARKS = """
def _ls_put(site, line):
    _ls_at[site] = line
"""
"""Notes the line where a compound statement under a `try` begins."""

ROUND = """
_ls_round = round
def round(number, ndigits=None):
    if ndigits is None:
        return _ls_round(number)
    if isinstance(number, float) and isinstance(ndigits, int) and 0 <= ndigits < 300:
        return float(f"{number:.{ndigits}f}")
    return _ls_round(number, ndigits)
"""
"""The engine rounds a number's shortest decimal text, Python the number itself."""

FORMATS = """
_ls_known = (str, int, float), isinstance, type, TypeError
def _ls_formats(value):
    if _ls_known[1](value, _ls_known[0]):
        return value
    kind = _ls_known[2](value).__name__
    if kind in ("date", "datetime", "Decimal", "time", "complex"):
        return value
    home = {"timedelta": "datetime.", "deque": "collections.", "defaultdict": "collections."}
    kind = home.get(kind, "") + kind
    raise _ls_known[3]("unsupported format string passed to " + kind + ".__format__")
"""
"""The engine pads what has no format of its own, such as None; Python raises an error."""

FORMAT = """
_ls_format = format
def format(value, format_spec=""):
    return _ls_format(_ls_formats(value), format_spec) if format_spec else _ls_format(value)
"""

_SUM = """
_ls_sum = sum, list, type, abs, float, ({kinds},)
def sum(iterable, /, start=0):
    items = _ls_sum[1](iterable)
    total = _ls_sum[0](items, start)
    if _ls_sum[2](total) is not _ls_sum[4]:
        return total
    lost = 0.0
    total = start
    for item in items:
        both = total + item
        if _ls_sum[2](item) in _ls_sum[5] and _ls_sum[2](total) is _ls_sum[4]:
            if _ls_sum[3](total) >= _ls_sum[3](item):
                lost += (total - both) + item
            else:
                lost += (item - both) + total
        total = both
    return total + lost if lost and lost - lost == 0.0 else total
"""
"""The engine adds up numbers as Python before 3.12 did; later ones keep what rounding loses."""


def sums(version: tuple[int, int]) -> str:
    """Return the lines that add up as a version of Python does; none for what the engine does."""
    if version < (3, 12):
        return ""
    return _SUM.format(kinds="float" if version < (3, 14) else "float, int, bool")


_SUMS = sums(sys.version_info[:2])

MENDED = frozenset({"`round` to digits"})
"""Features that the engine itself has otherwise, and that these lines put right."""

_NEEDS = {
    "json_parse": ("json", "re", "without_trailing_commas"),
    "table": ("table_row",),
    "retry": ("asyncio",),
}


def prelude(
    names: set[str],
    modules: set[str],
    *,
    views: bool,
    formats: bool,
    later: bool,
    marks: int,
) -> str:
    """Return the lines that bind names before a script.

    Args:
        names: Names among `MODULES`, `HELPERS`, `ToolError` and `BUILTINS` that it uses.
        modules: Names of modules of tools that it uses.
        views: It looks into caught errors.
        formats: It formats what may have no format of its own.
        marks: How many of its `try` note lines.
        later: It makes calls that it does not await at once.
    """
    wanted = names | {need for name in names for need in _NEEDS.get(name, ())}
    imports = [name for name in MODULES if name in wanted] + sorted(modules)
    parts: list[str] = []
    if imports:
        parts.append("import " + ", ".join(imports))
    if views:
        parts.append("import csv as _ls_csv" + VIEW + "ToolError = _ls_csv.Error")
    elif "ToolError" in wanted:
        parts.append(TOOL_ERROR)
    if "round" in wanted:
        parts.append(ROUND)
    if "sum" in wanted and _SUMS:
        parts.append(_SUMS)
    if formats or "format" in wanted:
        parts.append(FORMATS)
    if "format" in wanted:
        parts.append(FORMAT)
    if marks:
        parts.append(f"_ls_at = [0] * {marks}\n{MARKS}")
    if later:
        parts.append(LATER)
    parts.extend(source for name, source in _helper_sources().items() if name in wanted)
    return "".join(part.strip("\n") + "\n" for part in parts)


@cache
def _helper_sources() -> dict[str, str]:
    text = (files("lineshaft.engines") / "_helpers.py").read_text(encoding="utf-8")
    return {
        node.name: ast.unparse(_bare(node))
        for node in steadily(lambda: ast.parse(text)).body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


def _bare(function: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
    """Drop what takes time to parse and does nothing: docstring and annotations."""
    function.body = function.body[1:]
    function.returns = None
    for argument in function.args.args:
        argument.annotation = None
    return function
