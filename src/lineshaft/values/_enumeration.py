"""Names and numbers in a sentence."""

from collections.abc import Sequence


def first_few(names: Sequence[str], most: int, *, quoted: bool = False) -> str:
    """Return the first of some names, and how many there are more, as text.

    Args:
        names: The names.
        most: The number that is told.
        quoted: Whether each stands in quotes.
    """
    told = ", ".join(repr(name) if quoted else name for name in names[:most])
    return told if len(names) <= most else f"{told} and {len(names) - most:,} more"


def counted(count: int, noun: str) -> str:
    """Return a number with its noun: `1 call`, `3 calls`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
