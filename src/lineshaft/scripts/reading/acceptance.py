"""Acceptance of a script's text, before it is read."""

import re

from lineshaft.values import Finding

MAX_BYTES = 250_000
"""The largest script; data comes in by `inputs` or files."""


def accept(source: object) -> str | Finding:
    """Return a script's text with line feeds as its only line ends, or the reason why it is none.

    Args:
        source: The value given as a script.
    """
    if not isinstance(source, str):
        return _refusal(f"the script must be text, not {type(source).__name__}")
    if not source.strip("\ufeff \t\r\n\f\v"):
        return _refusal("the script is empty")
    if len(source) > MAX_BYTES:
        length = f"{len(source):,} characters, {MAX_BYTES:,} bytes are allowed"
        return _refusal(f"the script has {length}")
    text = source.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    return _character_problem(text) or text


def _character_problem(text: str) -> Finding | None:
    for pattern, name in _REFUSED:
        if found := pattern.search(text):
            line = text.count("\n", 0, found.start()) + 1
            return _refusal(f"the script has {name} on line {line}", line)
    size = len(text.encode())
    if size > MAX_BYTES:
        return _refusal(f"the script has {size:,} bytes, {MAX_BYTES:,} are allowed")
    return None


_REFUSED = (
    (re.compile("[\ud800-\udfff]"), "half a character (a lone surrogate)"),
    (re.compile("\0"), "a NUL character"),
)


def _refusal(message: str, line: int | None = None) -> Finding:
    return Finding(code="E_INVALID_ARGS", message=message, level="error", line=line)
