"""A script's text: what is accepted, and its syntax tree."""

import ast
import re
import warnings

from lineshaft.scripts._hints_syntax import syntax_hint
from lineshaft.scripts._names_scopes import Reading, TooDeep, read
from lineshaft.values import Finding, steadily

MAX_BYTES = 250_000
"""The largest script; data comes in by `inputs` or files."""

MAX_DEPTH = 200
"""The deepest nesting of a script's syntax."""


def accept(source: object) -> str | Finding:
    """Return a script's text with line feeds only at the ends of lines, or why it is none."""
    if not isinstance(source, str):
        return _refusal(f"code must be text, not {type(source).__name__}")
    if not source.strip("\ufeff \t\r\n\f\v"):
        return _refusal("code must not be empty")
    if len(source) > MAX_BYTES:
        return _refusal(f"code has {len(source):,} characters, {MAX_BYTES:,} bytes are allowed")
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _character_problem(text) or text


def _character_problem(text: str) -> Finding | None:
    for pattern, name in _REFUSED:
        if found := pattern.search(text):
            line = text.count("\n", 0, found.start()) + 1
            return _refusal(f"code has {name} on line {line}", line)
    size = len(text.encode())
    if size > MAX_BYTES:
        return _refusal(f"code has {size:,} bytes, {MAX_BYTES:,} are allowed")
    return None


_REFUSED = (
    (re.compile("[\ud800-\udfff]"), "half a character (a lone surrogate)"),
    (re.compile("\0"), "a NUL character"),
)


def parse(text: str) -> Reading | Finding:
    """Return the syntax tree of a script with its scopes, or its syntax error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the script's own escapes and literals
            tree = steadily(lambda: ast.parse(text))
        return read(tree, max_depth=MAX_DEPTH)
    except SyntaxError as error:
        return _syntax_error(text, error)
    except (MemoryError, RecursionError):  # what the parser raises for very deep nesting
        return _too_deep(text.count("\n", 0, text.index(max(text.split("\n"), key=len))) + 1)
    except TooDeep as error:
        return _too_deep(error.line)


def _too_deep(line: int) -> Finding:
    return Finding(
        code="syntax-error",
        message=f"the code is nested too deep on line {line}",
        level="error",
        line=line,
        column=1,
        hint="give parts of it names, and put them together in several statements",
    )


def _syntax_error(text: str, error: SyntaxError) -> Finding:
    line = min(max(error.lineno or 1, 1), text.count("\n") + 1)
    message = error.msg.partition("; use sys.set_int_max_str_digits()")[0]
    return Finding(
        code="syntax-error",
        message=message,
        level="error",
        line=line,
        column=max(error.offset or 1, 1),
        hint=syntax_hint(message, text.split("\n")[line - 1].strip()),
    )


def _refusal(message: str, line: int | None = None) -> Finding:
    return Finding(code="E_INVALID_ARGS", message=message, level="error", line=line)
