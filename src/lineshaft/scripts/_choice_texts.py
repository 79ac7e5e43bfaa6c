"""Patterns, rounding and dates, where the small engine gives something else."""

import ast
import re

from lineshaft.scripts._choice_needs import Reader

_PATTERN_FIRST = frozenset(
    {f"re.{name}" for name in ("compile", "findall", "finditer", "fullmatch", "match", "search",
                               "split", "sub")}
)  # fmt: skip  # words, not one a line
_DOLLAR = re.compile(r"(?:\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|[^\\$\[])*(?P<what>\$)")
_END = re.compile(r"(?:\\[^Z]|[^\\])*\\Z")
_ESCAPE = re.compile(r"(?:[^\\]|\\[1-9\\]|\\g<)*\\[^1-9\\g]")
_GROUP = re.compile(r"\\(?:[1-9](?P<rest>\w|$)?|.)", re.DOTALL)
"""A group by its number, and what may be taken for the rest of its name."""

_SET = re.compile(r"\\.|\[\^?\]?(?P<inside>(?:\\.|[^\]\\])*)")
_TOGETHER = re.compile(r"(?:\\.|[^\\])*?(?:\[|&&|--|~~|\|\|)")
"""In a set: what is a set in it, or something between two, in other dialects."""

_WORDS = re.compile(r"(?:[^\\]|\\[^wWbB])*\\[wWbB]")
"""What asks for the characters of words: not the same ones beyond ASCII."""


def call(reader: Reader, node: ast.AST) -> None:
    """Look at a call of a function of `re`, of a pattern's `sub`, or of `round`."""
    assert isinstance(node, ast.Call)  # noqa: S101  the table says so
    function = node.func
    if isinstance(function, ast.Name) and function.id == "round":
        if len(node.args) > 1 and reader.named(function) == "round":
            reader.feature(node, "`round` to digits")
        return
    name = reader.named(function)
    if name in _PATTERN_FIRST and node.args:
        _pattern(reader, node.args[0], name)
        if name == "re.sub" and len(node.args) > 1:
            _replacement(reader, node.args[1])
            _groups(reader, *node.args[:2])
    elif isinstance(function, ast.Attribute):
        _method(reader, node, function)


def _method(reader: Reader, node: ast.Call, function: ast.Attribute) -> None:
    if function.attr == "sub" and not reader.named(function):
        for argument in node.args[:1]:
            _replacement(reader, argument)
    elif function.attr == "strptime" and len(node.args) > 1:
        _strptime(reader, node.args[1])
    elif function.attr == "fromisoformat" and _is_caught(reader, node):
        reader.feature(node, "`fromisoformat` of any form", "doubt")


def _strptime(reader: Reader, node: ast.expr) -> None:
    texts = _texts(reader, node)
    if not texts:
        reader.feature(node, "`strptime` without a whole date", "doubt")
    for text in texts:
        if not all(re.search(f"%-?[{part}]", text) for part in ("Yy", "mbB", "d")):
            reader.feature(node, "`strptime` without a whole date")
        elif re.search("%-?[HI]", text) and "%M" not in text:
            reader.feature(node, "`strptime` without minutes")
        elif "%y" in text:
            reader.feature(node, "`strptime` with a year of two digits")


def _is_caught(reader: Reader, node: ast.AST) -> bool:
    """Return whether an error may be caught by the script."""
    above: ast.AST | None = node
    while above is not None:
        if isinstance(above, ast.Try | ast.FunctionDef | ast.AsyncFunctionDef):
            return True
        above = reader.above(above)
    return False


def _pattern(reader: Reader, node: ast.expr, function: str) -> None:
    for text in _texts(reader, node):
        if _warns(text):
            reader.feature(node, "sets of characters that are put together")
            continue  # Python warns of such a pattern
        if isinstance(node, ast.Constant) and _is_refused(text):
            reader.need(node, "a pattern that Python refuses", "doubt")
            continue
        if function in _GOING_ON and _may_be_empty(text):
            reader.feature(node, "empty matches", "doubt")
        if _DOLLAR.match(text):
            reader.feature(node, "`$` in a pattern")
        if _END.match(text):
            reader.feature(node, "`\\Z` in a pattern")
        if _WORDS.match(text):
            reader.doubt(node, "words in a pattern")


def _warns(text: str) -> bool:
    """Return whether a pattern has a set that other dialects put together of several."""
    return any(
        found["inside"] and _TOGETHER.match(found["inside"]) for found in _SET.finditer(text)
    )


def _groups(reader: Reader, pattern: ast.expr, replacement: ast.expr) -> None:
    """Look for groups in a replacement that the pattern does not have."""
    match pattern, replacement:
        case ast.Constant(value=str(text)), ast.Constant(value=str(template)):
            if "\\" in template and not _warns(text) and _is_refused(text, template):
                reader.need(replacement, "a replacement that Python refuses", "doubt")
        case _:
            pass


def _is_refused(text: str, replacement: str = "") -> bool:
    """Return whether full Python refuses a pattern, or the groups that a replacement names."""
    if len(text) > _LONGEST:
        return False
    try:
        re.compile(text).sub(replacement, "")
    except (re.error, IndexError, OverflowError, RecursionError):
        return True
    return False


_GOING_ON = frozenset({"re.compile", "re.findall", "re.finditer", "re.split", "re.sub"})
_LONGEST = 200
_REPEATED = re.compile(r"\)[*+{]")
"""What could take long to try."""

_SHOWN = ("", "a", "A", "1", " ", "aA", "a b", ",", ".")


def _may_be_empty(text: str) -> bool:
    """Return whether a pattern may match nothing between two characters."""
    if len(text) > _LONGEST or _REPEATED.search(text):
        return True
    try:
        pattern = re.compile(text)
    except (re.error, OverflowError, RecursionError):
        return False
    return any(not found.group() for shown in _SHOWN for found in pattern.finditer(shown))


def _texts(reader: Reader, node: ast.expr) -> list[str]:
    """Return the text parts of an expression, also through a name that is bound once."""
    if isinstance(node, ast.Name):
        reading = reader.resolver.reading
        home = reading.binder(node.id, reading.scopes[node])
        values = [b.value for b in home.bindings[node.id]] if home else []
        return [t for v in values if v is not None and not _is_name(v) for t in _texts(reader, v)]
    return [
        inner.value
        for inner in ast.walk(node)
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str)
    ]


def _is_name(node: ast.expr) -> bool:
    return isinstance(node, ast.Name)


def _replacement(reader: Reader, node: ast.expr) -> None:
    ref = reader.ref(node) if isinstance(node, ast.Name | ast.Attribute) else None
    is_function = isinstance(node, ast.Lambda) or (
        ref is not None and ref.kind in ("builtin", "def", "lambda", "member")
    )
    if is_function:
        reader.feature(node, "`re.sub` with a function")
        return
    texts = _texts(reader, node)
    if any(_ESCAPE.match(text) for text in texts):
        reader.feature(node, "escapes in a replacement")
    rests = {found["rest"] for text in texts for found in _GROUP.finditer(text)}
    if isinstance(node, ast.Constant | ast.Name):
        rests.discard("")  # nothing comes behind the end
    if rests - {None}:
        reader.feature(node, "a word after a group in a replacement")
