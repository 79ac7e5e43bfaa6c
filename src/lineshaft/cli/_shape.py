"""Calls, numbers and times as text."""

import json
from collections.abc import Mapping
from typing import cast

from lineshaft.cli._terminal import one_line
from lineshaft.values import Change

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


def call_line(tool: str, arguments: Mapping[str, object], width: int = 160) -> str:
    """Return a call on one safe line: `read_file path="notes.txt"`."""
    words = [f"{name}={brief(value)}" for name, value in arguments.items()]
    return one_line(" ".join([tool, *words]), width)


def brief(value: object) -> str:
    """Return a value as JSON on one line; of a content that was left out, its size."""
    if isinstance(value, dict):
        left_out = cast("dict[str, object]", value)
        count = left_out.get("bytes")
        if set(left_out) == {"bytes", "sha256"} and isinstance(count, int):
            return f"<{size(count)}>"
    return json.dumps(value, ensure_ascii=False, default=str)


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


def size(count: int) -> str:
    """Return an amount of bytes: `512 B`, `1.5 kB`, `5.2 MB`."""
    amount = float(count)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"


def dollars(amount: float) -> str:
    """Return an amount of US dollars: `$0`, `under $0.0001`, `$0.0012`, `$3.50`."""
    if amount <= 0:
        return "$0"
    if amount < _LEAST_DOLLARS:
        return f"under ${_LEAST_DOLLARS}"
    return f"${amount:.4f}" if amount < 1 else f"${amount:,.2f}"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 call`, `3 calls`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def change_line(change: Change) -> str:
    """Return a change on one line: `modified docs/a.md  +3 -1`."""
    source = f" from {change.moved_from}" if change.moved_from else ""
    return f"{change.kind:<9} {one_line(change.path + source)}  +{change.added} -{change.removed}"
