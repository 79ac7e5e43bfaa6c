"""The texts of errors that a script shows, where the small engine has other words."""

import ast
from collections.abc import Callable, Iterable, Iterator

from lineshaft.scripts._choice_needs import Reader

_JSON = frozenset({"json.load", "json.loads", "json_parse"})
_BROAD = frozenset({"BaseException", "Exception"})
_VALUE = _BROAD | {"ValueError"}
_ZERO = _BROAD | {"ArithmeticError", "OverflowError", "ZeroDivisionError"}

_MATHS = frozenset(
    {f"math.{name}" for name in ("acos", "acosh", "asin", "atanh", "cosh", "exp", "factorial",
                                 "fmod", "log", "log10", "log1p", "log2", "pow", "sinh", "sqrt")}
)  # fmt: skip  # words, not one a line
_DATES = frozenset({"datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"})
_READ_DATES = frozenset({"fromisoformat", "strptime"})
_PARTS = frozenset({"day", "hour", "minute", "month", "second", "year"})
_PAIRS = frozenset({"enumerate", "zip", "items", "most_common", "partition", "rpartition"})
"""What gives as many values as are taken."""

_PATTERNS = frozenset(
    {f"re.{name}" for name in ("compile", "findall", "finditer", "fullmatch", "match", "search",
                               "split", "sub")}
)  # fmt: skip  # words, not one a line
_NO_TEXT = frozenset({"code", "tool"})
_OF_CLASS = frozenset({"isinstance", "type"})

_Finds = Callable[[Reader, ast.AST], bool]


def handler(reader: Reader, node: ast.AST) -> None:
    """Look at the text of errors that a script catches."""
    assert isinstance(node, ast.ExceptHandler)  # noqa: S101  the table says so
    if node.name is None or not _is_shown(reader, node, node.name):
        return
    kinds = _kinds(reader, node.type)
    guarded = reader.above(node)
    body = guarded.body if isinstance(guarded, ast.Try) else []
    if kinds & {"AssertionError", *_BROAD} and _asserts(body, kinds):
        reader.need(node, "the text of a failed `assert`", "differs")
    of_json = "json.JSONDecodeError" in kinds
    if of_json or (kinds & _VALUE and _parses_json(reader, body)):
        reader.need(node, "the text of a JSON error", "differs")
    if what := _worded(reader, kinds, body):
        reader.need(node, what, "doubt")


def _worded(reader: Reader, kinds: set[str], body: list[ast.stmt]) -> str:
    """Return whose text a script may see, if the engine puts it in words of its own."""
    for name, what in _ALWAYS.items():
        if name in kinds:
            return what
    looks = [(finds, what) for of, finds, what in _SOMETIMES if of & kinds]
    if not looks:
        return ""
    for node in _nodes(reader, body):
        for finds, what in looks:
            if finds(reader, node):
                return what
    return ""


def _nodes(reader: Reader, body: list[ast.stmt]) -> Iterable[ast.AST]:
    """Return what may run under a `try`: all of the script, if it calls a function of its own."""
    inside = [node for part in body for node in ast.walk(part)]
    if any(isinstance(node, ast.Call) and _is_own(reader, node.func) for node in inside):
        return reader.resolver.reading.nodes
    return inside


def _is_own(reader: Reader, function: ast.expr) -> bool:
    ref = reader.ref(function)
    if ref is not None:
        return ref.kind in ("def", "lambda")
    if isinstance(function, ast.Attribute):
        return function.attr in reader.resolver.reading.methods
    return True


def _is_shown(reader: Reader, node: ast.ExceptHandler, name: str) -> bool:
    """Return whether a handler does more with an error than ask for its class."""
    return any(
        isinstance(inner, ast.Name) and inner.id == name and not _is_asked(reader, inner)
        for statement in node.body
        for inner in ast.walk(statement)
    )


def _is_asked(reader: Reader, node: ast.Name) -> bool:
    above = reader.above(node)
    match above:
        case ast.Attribute(attr=attr):
            return attr in _NO_TEXT
        case ast.Call(func=ast.Name(id=name)):
            return name in _OF_CLASS and reader.slot(node) == ("args")
        case _:
            return isinstance(above, ast.Raise)


def _kinds(reader: Reader, node: ast.expr | None) -> set[str]:
    if isinstance(node, ast.Tuple):
        return {name for item in node.elts for name in _kinds(reader, item)}
    return {reader.named(node)} if node is not None else set()


def _asserts(body: list[ast.stmt], kinds: set[str]) -> bool:
    if "AssertionError" in kinds:
        return True
    return any(isinstance(inner, ast.Assert) for part in body for inner in ast.walk(part))


def _parses_json(reader: Reader, body: list[ast.stmt]) -> bool:
    return any(
        isinstance(inner, ast.Call) and reader.named(inner.func) in _JSON
        for part in body
        for inner in ast.walk(part)
    )


def _divides(reader: Reader, node: ast.AST) -> bool:
    match node:
        case ast.BinOp(op=ast.Mod(), left=ast.Constant(value=str()) | ast.JoinedStr()):
            return False
        case ast.BinOp(op=op) | ast.AugAssign(op=op):
            return isinstance(op, ast.Div | ast.FloorDiv | ast.Mod | ast.Pow)
        case ast.Call(func=ast.Name(id="divmod" | "pow")):
            return True
        case _:
            return False


def _does_maths(reader: Reader, node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and reader.named(node.func) in _MATHS


def _makes_dates(reader: Reader, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in _READ_DATES:
            return True
        if node.func.attr == "replace" and any(k.arg in _PARTS for k in node.keywords):
            return True
    return reader.named(node.func) in _DATES


def _takes_apart(reader: Reader, node: ast.AST) -> bool:
    match node:
        case ast.Assign(targets=[*_, ast.Tuple() | ast.List()], value=value):
            return not (isinstance(value, ast.Tuple | ast.List | ast.Await) or _is_pair(value))
        case (
            ast.For(target=ast.Tuple(), iter=value)
            | ast.comprehension(target=ast.Tuple(), iter=value)
        ):
            return not _is_pair(value)
        case _:
            return False


def _is_pair(node: ast.expr) -> bool:
    match node:
        case ast.Call(func=ast.Name(id=name)) | ast.Call(func=ast.Attribute(attr=name)):
            return name in _PAIRS or name == "divmod"
        case _:
            return False


def _looks_for(reader: Reader, node: ast.AST) -> bool:
    """Look for `items.index(x)`, and for `max(items)`, which may be empty."""
    match node:
        case ast.Call(func=ast.Attribute(attr="index")):
            return True
        case ast.Call(func=ast.Name(id="max" | "min"), args=[_], keywords=keywords):
            return all(keyword.arg != "default" for keyword in keywords)
        case _:
            return False


def _takes_out(reader: Reader, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(attr="popitem" | "remove")):
            return True
        case _:
            return False


def _has_pattern(reader: Reader, node: ast.AST) -> bool:
    """Look for a pattern that is made while the script runs."""
    is_call = isinstance(node, ast.Call) and reader.named(node.func) in _PATTERNS
    return is_call and not any(isinstance(value, ast.Constant) for value in _first(node))


def _first(node: ast.AST) -> Iterator[ast.expr]:
    if isinstance(node, ast.Call):
        yield from node.args[:1]


_ALWAYS = {
    "TypeError": "the text of a `TypeError`",
    "re.error": "the text of an error in a pattern",
}

_SOMETIMES: tuple[tuple[frozenset[str], _Finds, str], ...] = (
    (_ZERO, _divides, "the text of a division by zero"),
    (_ZERO | _VALUE, _does_maths, "the text of an error of `math`"),
    (_VALUE | {"OverflowError"}, _makes_dates, "the text of an error in a date"),
    (_VALUE, _takes_apart, "the text of an error in an assignment"),
    (_VALUE, _looks_for, "the text of an error of `index`, `min` or `max`"),
    (frozenset({"KeyError", "LookupError"}), _takes_out, "the text of an error of `remove`"),
    (_BROAD, _has_pattern, "the text of an error in a pattern"),
)
"""Kinds of errors, what raises one whose text is another, and what to call it."""
