"""What a run takes from the world beside its calls: given again in order, kept beyond that.

Both ends of a wire have this file, so it uses the standard library alone.
"""

from collections.abc import Callable, Sequence

MOST = 10_000
"""Readings that are kept of a run; one that takes more cannot be executed again."""


class Reel:
    """Readings of one run, one after another.

    Args:
        keep: Takes each that comes beyond those that are given.
    """

    def __init__(self, keep: Callable[[float], None]) -> None:
        self._given: Sequence[float] = ()
        self._keep = keep
        self.at = 0
        """How many were taken."""

    def give(self, given: Sequence[float], *, at: int = 0) -> None:
        """Have the readings of an earlier execution said again.

        Args:
            given: All of them.
            at: How many were taken already.
        """
        self._given, self.at = given, at

    @property
    def replays(self) -> bool:
        """Whether the next reading is given."""
        return self.at < len(self._given)

    def take(self) -> float:
        """Return the next of the given."""
        value = self._given[self.at]
        self.at += 1
        return value

    def put(self, value: float) -> None:
        """Keep one that was not given."""
        self.at += 1
        self._keep(value)
