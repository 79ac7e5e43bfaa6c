"""Counts of the lines that a change adds and removes."""

from collections import Counter
from difflib import SequenceMatcher

_MOST_PAIRS = 1_000_000
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
    before, after = _trimmed(old.splitlines(), new.splitlines())
    if len(before) * len(after) > _MOST_PAIRS:
        gone, come = Counter(before), Counter(after)
        return (come - gone).total(), (gone - come).total()
    same = sum(
        block.size
        for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
    )
    return len(after) - same, len(before) - same


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
