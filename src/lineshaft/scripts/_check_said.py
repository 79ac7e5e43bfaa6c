"""The type checker's words, turned into findings: which of them block, and where."""

import ast
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from lineshaft.scripts._awaits_edits import Text
from lineshaft.scripts._check_changes import may_have_changed
from lineshaft.scripts._check_types import certainly_wrong, is_coroutine
from lineshaft.scripts._names_refs import Ref, Resolver
from lineshaft.scripts._prepare import Prepared
from lineshaft.tools import signature
from lineshaft.values import Diagnostic, Finding, Stubs, ToolSpec

_EXPECTED = re.compile(r"Expected `(?P<expected>.*)`, found `(?P<found>.*)`$", re.DOTALL)
_TYPES = re.compile(r"(?:objects? of type|and) `([^`]*)`", re.IGNORECASE)
_RECORD = re.compile(r"^class (\w+)\(TypedDict", re.MULTILINE)
_NAMES = re.compile(r"`([^`]*)`")

_CODES = {
    "invalid-argument-type": "wrong-argument",
    "missing-argument": "missing-argument",
    "parameter-already-assigned": "repeated-argument",
    "positional-only-parameter-as-kwarg": "unknown-argument",
    "too-many-positional-arguments": "too-many-arguments",
    "unknown-argument": "unknown-argument",
}
"""What the checker says of a call's arguments, and what it is called here."""

_MESSAGES = {
    "missing-argument": "`{tool}` is called without {names}",
    "repeated-argument": "{names} is given twice to `{tool}`",
    "too-many-arguments": "`{tool}` takes {by_position} by position: write name=value",
    "unknown-argument": "`{tool}` has no parameter {names}",
    "wrong-argument": "{names} of `{tool}` must be {expected}, not {found}",
}

_OF_VALUES = frozenset(
    {"not-iterable", "not-subscriptable", "unresolved-attribute", "unsupported-operator"}
)
"""What the checker says of a value that was not awaited."""

_TOLD: dict[str, Literal["warning", "info"]] = {
    "call-non-callable": "warning",
    "checker-failed": "info",
    "invalid-key": "warning",
    "not-iterable": "warning",
    "not-subscriptable": "warning",
    "unresolved-import": "info",
}
"""What is worth telling where it does not block."""

_Position = tuple[int, int]


@dataclass(slots=True)
class Arguments:
    """The calls of a script and their arguments, by where they start."""

    resolver: Resolver
    text: Text
    records: Collection[str]
    """Names of types that are dicts."""

    calls: dict[_Position, ast.Call] = field(default_factory=dict[_Position, ast.Call])
    arguments: dict[_Position, tuple[ast.Call, ast.AST]] = field(
        default_factory=dict[_Position, tuple[ast.Call, ast.AST]]
    )

    @classmethod
    def of(cls, resolver: Resolver, text: Text, stubs: Stubs) -> "Arguments":
        """Find all calls whose function is known."""
        records = {n for s in (stubs.main, *stubs.modules.values()) for n in _RECORD.findall(s)}
        found = cls(resolver, text, records)
        for call in resolver.reading.calls:
            ref = resolver.ref(call.func)
            if ref is None:
                continue
            if ref.kind == "tool":
                found.calls[text.position(call.lineno, call.col_offset)] = call
            for argument in (*call.args, *call.keywords):
                place = text.position(argument.lineno, argument.col_offset)
                found.arguments[place] = (call, argument)
        return found


def judge(
    prepared: Prepared, text: Text, said: Iterable[Diagnostic], *, stubs: Stubs
) -> Iterator[Finding]:
    """Return the findings in what the type checker says of a program."""
    arguments: Arguments | None = None
    for one in said:
        if prepared.resolver:
            arguments = arguments or Arguments.of(prepared.resolver, text, stubs)
            place = prepared.written(one.line, one.column)
            if finding := _of_call(arguments, one, place) or _of_value(one, place):
                yield finding


def _of_call(arguments: Arguments, one: Diagnostic, place: _Position) -> Finding | None:
    """Return what is wrong with the arguments of a call, where that is certain."""
    code = _CODES.get(one.code)
    if code is None:
        return None
    if code == "missing-argument":
        call, argument = arguments.calls.get(place), None
    else:
        call, argument = arguments.arguments.get(place, (None, None))
    ref = arguments.resolver.ref(call.func) if call else None
    if call is None or ref is None or _is_spread(call, argument):
        return None
    types = _EXPECTED.search(one.message)
    if types and is_coroutine(types["found"]) and _uses_values(ref):
        return _not_awaited(place)
    if ref.spec is None or (code == "missing-argument" and len(call.args) > _by_position(ref.spec)):
        return None  # of the latter, that they do not go by position is said
    if code == "wrong-argument":
        given, wanted = (types["found"], types["expected"]) if types else ("", "")
        is_wrong = certainly_wrong(given, wanted, records=arguments.records)
        if not is_wrong or may_have_changed(arguments.resolver, argument):
            return None
    return _wrong_call(ref.spec, code, one, place, argument)


def _by_position(spec: ToolSpec) -> int:
    return 1 if spec.positional else 0


def _is_spread(call: ast.Call, argument: ast.AST | None) -> bool:
    """Return whether arguments come from a `*` or `**`, whose values the checker does not know."""
    if argument is None:
        spread = any(isinstance(a, ast.Starred) for a in call.args)
        return spread or any(k.arg is None for k in call.keywords)
    is_keyword = isinstance(argument, ast.keyword)
    return isinstance(argument, ast.Starred) or (is_keyword and argument.arg is None)


def _uses_values(ref: Ref) -> bool:
    """Return whether a function can do nothing with a call that was not awaited."""
    is_plain = ref.kind == "member" and not ref.name.startswith("asyncio.")
    return ref.kind in ("tool", "builtin") or is_plain


def _wrong_call(
    spec: ToolSpec, code: str, one: Diagnostic, place: _Position, argument: ast.AST | None
) -> Finding:
    head, _, _ = one.message.partition(" of function")
    names = ", ".join(f"`{name}`" for name in _NAMES.findall(head)) or "an argument"
    types = _EXPECTED.search(one.message)
    if types:
        is_named = isinstance(argument, ast.keyword)
        names = f"`{argument.arg}`" if is_named else "an argument"
    elif code != "missing-argument":
        names = names.split(", ")[0]
    message = _MESSAGES[code].format(
        tool=spec.name,
        names=names,
        expected=types["expected"] if types else "",
        found=types["found"] if types else "",
        by_position=f"`{spec.positional}` alone" if spec.positional else "no argument",
    )
    return Finding(
        code=code,
        message=message,
        level="error",
        line=place[0],
        column=place[1],
        hint=signature(spec),
    )


def _of_value(one: Diagnostic, place: _Position) -> Finding | None:
    if one.code in _OF_VALUES and any(is_coroutine(t) for t in _TYPES.findall(one.message)):
        return _not_awaited(place)
    level = _TOLD.get(one.code)
    if level is None or "has no member" in one.message:  # that is found by reading
        return None
    line, column = place
    message = _import(one.message) if one.code == "unresolved-import" else one.message
    return Finding(code=one.code, message=message, level=level, line=line, column=column)


def _import(message: str) -> str:
    """Return what is said of a module that the checker, and so the small engine, does not know."""
    name = next(iter(_NAMES.findall(message)), "")
    if name.partition(".")[0] in sys.stdlib_module_names:
        return f"`{name}` needs full Python"
    return f"`{name}` is no module of Python's own" if name else message


def _not_awaited(place: _Position) -> Finding:
    return Finding(
        code="not-awaited",
        message="this is a call that was not awaited, not its result",
        level="error",
        line=place[0],
        column=place[1],
        hint="write `await` before the call, or `await asyncio.gather(*calls)` for a list of them",
    )
