"""Functions that call another function themselves, and cannot await its result."""

import ast
from collections.abc import Iterator

from .definitions import Defs
from .edits import SourceText

_BY_KEY = frozenset({"sorted", "min", "max"})
_BY_FIRST = frozenset({"map", "filter"})


def key_functions(defs: Defs, text: SourceText) -> Iterator[tuple[ast.Call, ast.expr, str]]:
    """Return the calls that hand a tool to `sorted`, `map` and the like.

    Each comes with the function handed over, and with the text to write instead. A `map` whose
    calls are awaited later is right as it is.
    """
    for call in defs.places.resolver.outline.calls:
        found = _handed_over(defs, call)
        if not found:
            continue
        name, function = found
        waits = defs.gives_waiting(defs.places.resolver.ref(function))
        if not (waits or _waits_within(defs, function)):
            continue
        if name != "map" or defs.gathered.of(call) == "no":
            yield call, function, _instead(name, call, function, text)


def _handed_over(defs: Defs, call: ast.Call) -> tuple[str, ast.expr] | None:
    ref = defs.places.resolver.ref(call.func)
    name = ref.name if ref and ref.kind == "builtin" else ""
    if name in _BY_FIRST and len(call.args) > 1:
        return name, call.args[0]
    is_sort = ref is None and isinstance(call.func, ast.Attribute) and call.func.attr == "sort"
    if name in _BY_KEY or is_sort:
        for keyword in call.keywords:
            if keyword.arg == "key":
                return name or "sort", keyword.value
    return None


def _waits_within(defs: Defs, function: ast.expr) -> bool:
    """Return whether a lambda uses the result of a call that has to be awaited."""
    if not isinstance(function, ast.Lambda):
        return False
    awaits = defs.places.resolver.outline.every(ast.Await)
    if any(defs.context(node) is function for node in awaits):
        return True
    return any(defs.is_waiting(c) and defs.must_wait(c) for c in defs.inside[function])


def _instead(name: str, call: ast.Call, function: ast.expr, text: SourceText) -> str:
    """Return the text to write for a call of `map`, `sorted` and the like."""
    source = call.args[1] if name in _BY_FIRST else _only(call.args)
    if name == "sort" and isinstance(call.func, ast.Attribute):
        source = call.func.value
    items = text.short(source) if source else "items"
    each = "one" if isinstance(function, ast.Lambda) else text.short(function)
    first = f"`results = await asyncio.gather(*[{each}(x) for x in {items}])`"
    if isinstance(function, ast.Lambda):
        first = f"`async def one(x)` with the awaited call in it, then {first}"
    match name:
        case "map":
            then = ""
        case "filter":
            then = f", then `[x for x, keep in zip({items}, results) if keep]`"
        case "max" | "min":
            pairs = f"zip(results, {items})"
            then = f", then `{name}({pairs}, key=lambda pair: pair[0])[1]`"
        case _:
            then = f", then sort the pairs of `zip(results, {items})`"
    return f"write {first}{then}"


def _only(arguments: list[ast.expr]) -> ast.expr | None:
    """Return what a function goes over; None where it compares several arguments."""
    only = arguments[0] if len(arguments) == 1 else None
    return None if isinstance(only, ast.Starred) else only
