"""A cache of values made from the last few tuples of tools, which sessions use again."""

from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from lineshaft.values import ToolSpec

Made = TypeVar("Made")

_KEPT = 8


class Recent(Generic[Made]):
    """Keeps values made from tools, found again by their tuple.

    Args:
        make: Makes the value.
    """

    def __init__(self, make: Callable[[Sequence[ToolSpec]], Made]) -> None:
        self._make = make
        self._kept: list[tuple[Sequence[ToolSpec], Made]] = []

    def get(self, specs: Sequence[ToolSpec]) -> Made:
        """Return the value for some tools; it is cached by the tuple, which cannot change."""
        for known, made in self._kept:
            if known is specs:
                return made
        made = self._make(specs)
        if isinstance(specs, tuple):
            self._kept = [(specs, made), *self._kept[: _KEPT - 1]]
        return made
