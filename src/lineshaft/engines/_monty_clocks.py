"""Where the small engine cannot ask its host for the time: inside what it calls at one go."""

import ast
import re

from lineshaft.values import steadily

_WORDS = re.compile(r"\b(?:time|now|today|datetime)\b")
_OF_TIME = frozenset(
    {
        "asctime", "ctime", "gmtime", "localtime", "monotonic", "monotonic_ns", "perf_counter",
        "perf_counter_ns", "strftime", "time", "time_ns",
    }
)  # fmt: skip  # words, not one a line
_OF_DATES = frozenset({"now", "today"})
_STEPPED = frozenset({"__init__", "__enter__", "__exit__", "__aenter__", "__aexit__", "__call__"})
_Function = ast.FunctionDef | ast.Lambda


def reads_clock_at_one_go(source: str) -> bool:
    """Return whether a script may look at a clock where that cannot be a question to its host.

    So it is in functions that are given to `sorted`, `map` and the like, and in methods that
    operators call.
    """
    if not _WORDS.search(source):
        return False
    try:
        tree = steadily(lambda: ast.parse(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    functions = [node for node in ast.walk(tree) if isinstance(node, _Function)]
    if not functions:
        return False
    bare = {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "time"
        for alias in node.names
    }
    reading = _reading(functions, bare)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    given = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called
    }
    return any(_at_one_go(function, given) for function in reading)


def _reading(functions: list[_Function], bare: set[str]) -> list[_Function]:
    """Return the functions that look at a clock, by themselves or through others."""
    found: list[_Function] = []
    names = set(bare)
    left = functions
    while new := [function for function in left if _looks(function, names)]:
        found += new
        names |= {function.name for function in new if isinstance(function, ast.FunctionDef)}
        left = [function for function in left if function not in new]
    return found


def _looks(function: _Function, names: set[str]) -> bool:
    return any(
        _is_clock(node.func) or (isinstance(node.func, ast.Name) and node.func.id in names)
        for node in ast.walk(function)
        if isinstance(node, ast.Call)
    )


def _is_clock(function: ast.expr) -> bool:
    if not isinstance(function, ast.Attribute):
        return False
    of_time = isinstance(function.value, ast.Name) and function.value.id == "time"
    return function.attr in _OF_DATES or (of_time and function.attr in _OF_TIME)


def _at_one_go(function: _Function, given: set[str]) -> bool:
    if isinstance(function, ast.Lambda):
        return True
    dunder = function.name.startswith("__") and function.name not in _STEPPED
    return dunder or function.name in given
