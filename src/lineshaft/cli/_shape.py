"""Calls, numbers and times as text."""

import json
from collections.abc import Mapping

from lineshaft.cli._terminal import one_line
from lineshaft.trace import brief, call_line, size
from lineshaft.values import Change, counted

__all__ = [
    "MARKS",
    "brief",
    "call_line",
    "change_line",
    "counted",
    "dollars",
    "size",
    "took",
    "value_text",
]

MARKS: Mapping[str, str] = {
    "asked": "·",
    "waiting": "?",
    "running": "▸",
    "done": "✓",
    "failed": "✗",
    "refused": "⊘",
    "cancelled": "-",
    "pending": "?",
    "unknown": "?",
}
"""One character for each state of a call."""


_LINE = 80
_LEAST_DOLLARS = 0.0001


def value_text(value: object, *, wide: bool = False) -> str:
    """Return a script's or tool's value as text: a text as it is, nothing for None, else JSON.

    Args:
        value: JSON-like.
        wide: For a person, over several lines where it is long; else on one line.
    """
    if value is None or isinstance(value, str):
        return value or ""
    if wide:
        line = json.dumps(value, ensure_ascii=False)
        return line if len(line) <= _LINE else json.dumps(value, ensure_ascii=False, indent=2)
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def took(milliseconds: float) -> str:
    """Return a duration: `3 ms`, `1.2 s`, `2 min 05 s`."""
    if milliseconds < 1000:
        return f"{milliseconds:.0f} ms"
    seconds = milliseconds / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60):02d} s"


def dollars(amount: float) -> str:
    """Return an amount of US dollars: `$0`, `under $0.0001`, `$0.0012`, `$3.50`."""
    if amount <= 0:
        return "$0"
    if amount < _LEAST_DOLLARS:
        return f"under ${_LEAST_DOLLARS}"
    return f"${amount:.4f}" if amount < 1 else f"${amount:,.2f}"


def change_line(change: Change) -> str:
    """Return a change on one line: `modified docs/a.md  +3 -1`."""
    source = f" from {change.moved_from}" if change.moved_from else ""
    return f"{change.kind:<9} {one_line(change.path + source)}  +{change.added} -{change.removed}"
