"""JSON as people write it by hand: with comments, and with commas after the last item."""

import json
import re
from collections import Counter
from typing import cast

from lineshaft.errors import ConfigError
from lineshaft.values import lazy_pattern

# Each piece is taken even where its end is missing: looking for an end from every beginning would
# take time by the square of a hostile text.
_PIECES = lazy_pattern(
    r'"(?:[^"\\\n]|\\.)*+"?'  # a text, in which nothing counts
    r"|//[^\n]*+"
    r"|/\*(?:[^*]|\*(?!/))*+(?:\*/)?"
    r"|,(?=(?:\s|//[^\n]*+\n|/\*(?:[^*]|\*(?!/))*+\*/)*+[}\]])"
)
_MOST_DEEP = 100


class Table(dict[str, object]):
    """An object that knows which of its keys it had more than once; the last value stands."""

    twice: frozenset[str] = frozenset()


def read_jsonc(text: str) -> object:
    """Return what a text says.

    Args:
        text: JSON, with `//` and `/* */` comments and commas before `}` and `]`.

    Raises:
        ConfigError: It is something else; says the line, and shows nothing of the text.
    """
    try:
        value = cast("object", json.loads(_PIECES().sub(_blanked, text), object_pairs_hook=_table))
    except json.JSONDecodeError as error:
        raise ConfigError(f"it is not JSON: line {error.lineno}: {error.msg}") from error
    except (RecursionError, ValueError) as error:  # also numbers of thousands of digits
        raise ConfigError("it is nested too deeply, or has too long a number") from error
    if _depth(value) > _MOST_DEEP:
        raise ConfigError("it is nested too deeply")
    return value


def _blanked(piece: re.Match[str]) -> str:
    """Return spaces for what is no JSON, so that lines keep their numbers."""
    found = piece[0]
    return found if found.startswith('"') else re.sub(r"[^\n]", " ", found)


def _table(pairs: list[tuple[str, object]]) -> Table:
    table = Table(pairs)
    if len(table) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        table.twice = frozenset(name for name, count in counts.items() if count > 1)
    return table


def _depth(value: object) -> int:
    deepest = 0
    waiting = [(value, 1)]
    while waiting:
        each, depth = waiting.pop()
        deepest = max(deepest, depth)
        inner: list[object] = []
        if isinstance(each, dict):
            inner = list(cast("dict[str, object]", each).values())
        elif isinstance(each, list):
            inner = cast("list[object]", each)
        waiting += [(item, depth + 1) for item in inner]
    return deepest
