"""Syntax that older Pythons lack: the version that brought it, and its first place."""

import ast
import io
import sys
import tokenize
from collections.abc import Iterator

from .annotations import unbound_in_annotations
from .edits import SourceText
from .references import Resolver
from .scopes import PARAMETERED

_Newer = tuple[int, int, str]
"""Minor version of Python 3, line, name of the syntax."""


def newer_syntax(resolver: Resolver, text: SourceText) -> list[_Newer]:
    """Return the first use of syntax of each version above 3.11, oldest version first."""
    found: dict[int, _Newer] = {}
    for each in _all(resolver, text):
        if each[0] not in found or found[each[0]][1] > each[1]:
            found[each[0]] = each
    return [found[minor] for minor in sorted(found)]


def _all(resolver: Resolver, text: SourceText) -> Iterator[_Newer]:
    every = resolver.outline.every
    for kind in PARAMETERED:
        for node in every(kind):
            yield from _of_parameters(node)
    if sys.version_info >= (3, 12):
        for alias in every(ast.TypeAlias):
            yield 12, alias.lineno, "a `type` alias"
    if sys.version_info >= (3, 14):
        for template in every(ast.TemplateStr):
            yield 14, template.lineno, "a t-string"
    for handler in every(ast.ExceptHandler):
        if _lacks_brackets(handler.type, text):
            yield 14, handler.lineno, "`except` of several kinds without brackets"
    for line, name, is_later in unbound_in_annotations(resolver):
        why = "before it is defined" if is_later else "although nothing defines it"
        yield 14, line, f"an annotation that names `{name}` {why}"
    if any(_may_nest(node, text) for node in every(ast.JoinedStr)):
        yield from _free_f_strings(text.data.decode())


def _of_parameters(node: ast.AST) -> Iterator[_Newer]:
    """Return the new syntax in the type parameters of a function, class or alias."""
    parameters: list[ast.AST] = getattr(node, "type_params", [])
    line: int = getattr(node, "lineno", 1)
    if parameters:
        yield 12, line, "type parameters in brackets"
    if any(getattr(parameter, "default_value", None) for parameter in parameters):
        yield 13, line, "a default of a type parameter"


def _lacks_brackets(kind: ast.expr | None, text: SourceText) -> bool:
    if not isinstance(kind, ast.Tuple):
        return False
    start, end = text.span(kind)
    depth = 0
    for at, byte in enumerate(text.data[start:end]):
        depth += (byte in b"([{") - (byte in b")]}")
        if depth == 0:  # the first bracket closes here, or there is none
            return at < end - start - 1
    return True


def _may_nest(node: ast.JoinedStr, text: SourceText) -> bool:
    """Return whether a look at the tokens is needed: they take their time."""
    done, end = text.span(node)
    around, between = b"", b""
    for part in node.values:
        if isinstance(part, ast.FormattedValue):
            first, last = text.span(part.value)
            around += text.data[done:first]
            between += text.data[first:last]
            done = last
    around += text.data[done:end]
    quotes = (quote for quote in (b"'", b'"') if quote in around)
    return b"\n" in around or any(mark in between for mark in (*quotes, b"\\", b"#", b"\n"))


def _free_f_strings(source: str) -> Iterator[_Newer]:
    """Return the f-strings that older Pythons refuse because of the text between their braces."""
    start, end = _START, tokenize.__dict__.get("FSTRING_END")
    is_open: list[str] = []
    """The quotes of the f-strings around a token."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        quote = token.string.lstrip("rRfFbBuUtT")[:3]
        if quote != quote[:1] * 3:
            quote = quote[:1]
        if is_open and _is_free(token, quote, is_open):
            yield 12, token.start[0], _FREE
        if token.type == start:
            is_open.append(quote)
        elif token.type == end and is_open:
            is_open.pop()


def _is_free(token: tokenize.TokenInfo, quote: str, is_open: list[str]) -> bool:
    """Return whether a token may stand between braces only since Python 3.12."""
    match token.type:
        case tokenize.COMMENT:
            return True
        case tokenize.NL:
            return any(len(outer) == 1 for outer in is_open)
        case tokenize.STRING:
            return "\\" in token.string or _ends_one(quote, is_open)
        case kind:
            return kind == _START and _ends_one(quote, is_open)


def _ends_one(quote: str, is_open: list[str]) -> bool:
    """Return whether a quote would have ended an f-string around it."""
    return quote in is_open or quote[:1] in is_open


_START = tokenize.__dict__.get("FSTRING_START")
_FREE = "an f-string with its own quotes, a backslash or a comment between the braces"
