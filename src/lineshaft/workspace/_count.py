"""Counts of the lines that a change adds and removes."""

from collections import Counter
from collections.abc import Hashable, Sequence

_MOST_PAIRS = 100_000_000
"""Lines times lines that are compared in order; beyond, order is left out."""


def line_count(data: bytes | None) -> int:
    """Return the number of lines of a text; 0 where it is no text or not known."""
    if not data or b"\0" in data:
        return 0
    return data.count(b"\n") + (not data.endswith(b"\n"))


def changed_lines(old: bytes | None, new: bytes | None) -> tuple[int, int]:
    """Return the numbers of lines added and removed.

    Args:
        old: Content before; None where it is not known or there was none.
        new: Content after.
    """
    if old is None or new is None or b"\0" in old or b"\0" in new:
        return line_count(new), line_count(old)
    before, after = _trimmed(_lines(old), _lines(new))
    if len(before) * len(after) > _MOST_PAIRS:
        gone, come = Counter(before), Counter(after)
        return (come - gone).total(), (gone - come).total()
    same = _common(before, after)
    return len(after) - same, len(before) - same


def _lines(data: bytes) -> list[bytes]:
    r"""Return the lines, which `\n` alone ends; the last is another where its end is missing."""
    *lines, last = data.split(b"\n")
    return [*lines, last + b"\n"] if last else lines


def _common(before: Sequence[Hashable], after: Sequence[Hashable]) -> int:
    """Return how many items two sequences have in common, in order.

    A row of the usual table is one integer, of a bit for each item: its cost depends on the
    lengths alone, while that of `difflib` grows by a power more where items repeat.
    """
    places: dict[Hashable, int] = {}
    for at, item in enumerate(before):
        places[item] = places.get(item, 0) | 1 << at
    every = (1 << len(before)) - 1
    row = every
    for item in after:
        fits = row & places.get(item, 0)
        row = ((row + fits) | (row - fits)) & every
    return len(before) - row.bit_count()


def _trimmed(old: list[bytes], new: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    """Leave out the lines at both ends that did not change."""
    shorter = min(len(old), len(new))
    head = 0
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return old[head : len(old) - tail], new[head : len(new) - tail]
