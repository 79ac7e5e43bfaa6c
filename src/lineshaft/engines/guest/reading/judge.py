"""The type checker's words, turned into remarks: which of them block, and where."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from .catalogue import KnownTool
from .edits import Shift, SourceText, as_written
from .guarded import is_caught
from .kinds import certainly_wrong, is_coroutine
from .mutation import may_have_changed, may_have_key, probes_key
from .origins import tool_behind
from .references import Reference, Resolver
from .remarks import KEYS, SIGNATURE, Remark

_EXPECTED = re.compile(r"Expected `(?P<expected>.*)`, found `(?P<found>.*)`$", re.DOTALL)
_TYPES = re.compile(r"(?:objects? of type|and) `([^`]*)`", re.IGNORECASE)
_NAMES = re.compile(r"`([^`]*)`")

_CODES = {
    "invalid-argument-type": "wrong-argument",
    "missing-argument": "missing-argument",
    "parameter-already-assigned": "repeated-argument",
    "positional-only-parameter-as-kwarg": "unknown-argument",
    "too-many-positional-arguments": "too-many-arguments",
    "unknown-argument": "unknown-argument",
}
"""The checker's codes for a call's arguments, and their names here."""

_MESSAGES = {
    "missing-argument": "`{tool}` is called without {names}",
    "repeated-argument": "{names} is given twice to `{tool}`",
    "too-many-arguments": "`{tool}` takes {by_position} by position: write name=value",
    "unknown-argument": "`{tool}` has no parameter {names}",
    "wrong-argument": "{names} of `{tool}` must be {expected}, not {found}",
}

_OF_VALUES = frozenset(
    {
        "missing-attribute",
        "not-iterable",
        "not-subscriptable",
        "unresolved-attribute",
        "unsupported-operator",
    }
)
"""The checker's codes for a value that was not awaited."""

_TOLD: dict[str, Literal["warning", "info"]] = {
    "call-non-callable": "warning",
    "checker-failed": "info",
    "import-not-found": "info",
    "invalid-key": "warning",
    "invalid-typed-dict-key": "warning",
    "not-iterable": "warning",
    "not-subscriptable": "warning",
    "unresolved-import": "info",
}
"""Codes that are worth reporting although they do not block."""

_OF_ERRORS = re.compile(r"`[^`]*\bBaseException\b[^`]*`")
"""The checker has it for what `gather(..., return_exceptions=True)` gives, also where the script
has left out each `Exception`: nothing else can come, and the checker does not know."""

_OF_MIXED_VALUES = re.compile(r"^Object of type `(?!.*\bNone\b).*` may not be iterable")
"""The checker has it for a loop over `d["items"]` where `d` is a dict of values of several types:
it tells none of its keys apart. Where a value may be None, the loop may fail."""

_IMPORTS = frozenset({"import-not-found", "unresolved-import"})

_UNKNOWN_KEY = re.compile(
    r"Unknown key \"(?P<key>.*)\" for TypedDict `(?P<record>\w+)`"
    r"(?: - did you mean \"(?P<meant>.*)\"\?)?",
    re.DOTALL,
)

_ONE_OF = re.compile(r"\(subscripted object has type `(?P<types>[^`]*)`\)$")
"""The end of a remark on a key, with the types that the value may have."""

_INNER = re.compile(r"\[[^\[\]]*\]")
_WITHOUT_KEYS = frozenset(
    {"None", "Literal", "bool", "bytes", "float", "frozenset", "int", "list", "set", "str", "tuple"}
)
"""Types whose values have no key that is a text."""

_Position = tuple[int, int]


_BESIDE = "_content"
"""The key of a result for images that a server sent beside it: no stub knows it."""


@dataclass(frozen=True, slots=True)
class TypeDiagnostic:
    """A diagnostic of the type checker."""

    code: str
    message: str
    line: int
    """1-based, in the repaired program."""

    column: int
    """1-based, in characters."""


@dataclass(slots=True)
class Arguments:
    """The calls of a script and their arguments, by their start."""

    resolver: Resolver
    text: SourceText
    records: Mapping[str, Sequence[str]]
    """Names of types that are dicts; those of results without further keys with their tools."""

    calls: dict[_Position, ast.Call] = field(default_factory=dict[_Position, ast.Call])
    arguments: dict[_Position, tuple[ast.Call, ast.AST]] = field(
        default_factory=dict[_Position, tuple[ast.Call, ast.AST]]
    )
    keys: dict[_Position, ast.Subscript] = field(default_factory=dict[_Position, ast.Subscript])
    """The subscripts that read a value, by the start of their key."""

    @classmethod
    def of(
        cls, resolver: Resolver, text: SourceText, records: Mapping[str, Sequence[str]]
    ) -> "Arguments":
        """Find all calls whose function is known, and the keys that are read."""
        found = cls(resolver, text, records)
        for call in resolver.outline.calls:
            ref = resolver.ref(call.func)
            if ref is None:
                continue
            if ref.kind == "tool":
                found.calls[text.position(call.lineno, call.col_offset)] = call
            for argument in (*call.args, *call.keywords):
                place = text.position(argument.lineno, argument.col_offset)
                found.arguments[place] = (call, argument)
        for node in resolver.outline.every(ast.Subscript):
            if isinstance(node.ctx, ast.Load):
                found.keys[text.position(node.slice.lineno, node.slice.col_offset)] = node
        return found


def judge(
    resolver: Resolver,
    text: SourceText,
    shifts: Mapping[int, Iterable[Shift]],
    said: Iterable[TypeDiagnostic],
    *,
    records: Mapping[str, Sequence[str]],
) -> Iterator[Remark]:
    """Return the remarks in the type checker's diagnostics of a program.

    Args:
        resolver: Of the script.
        text: The script.
        shifts: The shifts by its repair in each line.
        said: Diagnostics of the repaired program, by its positions.
        records: Names of types that are dicts; those of results without further keys with their
            tools.
    """
    arguments = Arguments.of(resolver, text, records)
    said = tuple(said)
    lacking = Counter((one.line, one.column) for one in said if _UNKNOWN_KEY.match(one.message))
    for one in said:
        found = _UNKNOWN_KEY.match(one.message)
        if found and (found["key"] == _BESIDE or _may_be_there(one, lacking)):
            continue
        place = one.line, as_written(shifts.get(one.line, ()), one.column)
        remark = _of_call(arguments, one, place) or _of_key(arguments, one, place)
        if remark := remark or _of_value(one, place):
            yield remark


def _may_be_there(one: TypeDiagnostic, lacking: Mapping[_Position, int]) -> bool:
    """Return whether one of the types that a value may have is not said to lack the key.

    Scripts take a result for that of a call that went well: where it did not, the error says so.
    """
    types = _ONE_OF.search(one.message)
    text, inner = types["types"] if types else "", 1
    while inner:
        text, inner = _INNER.subn("", text)
    keyed = [each for each in text.split(" | ") if each not in _WITHOUT_KEYS]
    return len(keyed) > lacking[one.line, one.column]


def _of_call(arguments: Arguments, one: TypeDiagnostic, place: _Position) -> Remark | None:
    """Return the error in the arguments of a call, where it is certain."""
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
    tool = ref.tool
    if tool is None or tool.hidden:
        return None
    if code == "missing-argument" and len(call.args) > len(tool.positional):
        return None  # that they do not go by position is said
    if code == "wrong-argument":
        given, wanted = (types["found"], types["expected"]) if types else ("", "")
        is_wrong = certainly_wrong(given, wanted, records=arguments.records)
        if not is_wrong or may_have_changed(arguments.resolver, argument):
            return None
    return _wrong_call(tool, code, one, place, _parameter(tool, call, argument))


def _is_spread(call: ast.Call, argument: ast.AST | None) -> bool:
    """Return whether arguments come from a `*` or `**`, whose values the checker does not know."""
    if argument is None:
        spread = any(isinstance(a, ast.Starred) for a in call.args)
        return spread or any(k.arg is None for k in call.keywords)
    is_keyword = isinstance(argument, ast.keyword)
    return isinstance(argument, ast.Starred) or (is_keyword and argument.arg is None)


def _uses_values(ref: Reference) -> bool:
    """Return whether a function cannot use a call that was not awaited."""
    is_plain = ref.kind == "member" and not ref.name.startswith("asyncio.")
    return ref.kind in ("tool", "builtin") or is_plain


def _parameter(tool: KnownTool, call: ast.Call, argument: ast.AST | None) -> str:
    """Return the parameter that an argument is for, where reading can tell."""
    if isinstance(argument, ast.keyword):
        return argument.arg or ""
    for given, name in zip(call.args, tool.positional, strict=False):
        if isinstance(given, ast.Starred):
            return ""
        if given is argument:
            return name
    return ""


def _wrong_call(
    tool: KnownTool, code: str, one: TypeDiagnostic, place: _Position, parameter: str
) -> Remark:
    head, _, _ = one.message.partition(" of function")
    names = ", ".join(f"`{name}`" for name in _NAMES.findall(head)) or "an argument"
    types = _EXPECTED.search(one.message)
    if types:
        names = f"`{parameter}`" if parameter else "an argument"
    elif code != "missing-argument":
        names = names.split(", ")[0]
    message = _MESSAGES[code].format(
        tool=tool.name,
        names=names,
        expected=types["expected"] if types else "",
        found=types["found"] if types else "",
        by_position=_listed(tool.positional),
    )
    return Remark(
        code=code,
        message=message,
        line=place[0],
        column=place[1],
        hint=SIGNATURE,
        tool=tool.name,
    )


def _listed(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"`{names[0]}` alone"
    return ", ".join(f"`{name}`" for name in names) or "no argument"


def _of_key(arguments: Arguments, one: TypeDiagnostic, place: _Position) -> Remark | None:
    """Return that a result of a tool has no such key, where that is certain."""
    found = _UNKNOWN_KEY.match(one.message)
    tools = arguments.records.get(found["record"], ()) if found else ()
    taken = arguments.keys.get(place)
    if found is None or not tools or taken is None or not isinstance(taken.slice, ast.Constant):
        return None
    resolver, key = arguments.resolver, taken.slice.value
    if may_have_key(resolver, key) or probes_key(resolver, key) or is_caught(resolver, taken):
        return None
    tool, meant = _one_of(tools, tool_behind(resolver, taken.value)), found["meant"]
    source = f"`{tool}`" if tool else "this kind"
    return Remark(
        code="unknown-key",
        message=f"a result of {source} has no key `{found['key']}`"
        + (f": did you mean `{meant}`?" if meant else ""),
        line=place[0],
        column=place[1],
        hint=KEYS + found["record"],
        tool=tool,
    )


def _one_of(tools: Sequence[str], origin: KnownTool | None) -> str:
    """Return the one of several tools that a value came from; empty where reading cannot tell."""
    if len(tools) == 1:
        return tools[0]
    return origin.name if origin and origin.name in tools else ""


def _of_value(one: TypeDiagnostic, place: _Position) -> Remark | None:
    if one.code in _OF_VALUES and any(is_coroutine(t) for t in _TYPES.findall(one.message)):
        return _not_awaited(place)
    level = _TOLD.get(one.code)
    if level is None or "has no member" in one.message:  # that is found by reading
        return None
    if _OF_ERRORS.search(one.message) or _OF_MIXED_VALUES.match(one.message):
        return None
    line, column = place
    code, message = one.code, one.message
    if code in _IMPORTS:
        name = next(iter(_NAMES.findall(message)), "")
        code, message = "unresolved-import", f"the type checker knows no module `{name}`"
    elif code == "checker-failed":
        line, column = max(line, 1), max(column, 1)
    return Remark(code=code, message=message, level=level, line=line, column=column)


def _not_awaited(place: _Position) -> Remark:
    return Remark(
        code="not-awaited",
        message="this is a call that was not awaited, not its result",
        line=place[0],
        column=place[1],
        hint="write `await` before the call, or `await asyncio.gather(*calls)` for a list of them",
    )
