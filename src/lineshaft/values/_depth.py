"""The depth of plain data; no recursion, since the data are of others."""

from collections.abc import Mapping
from typing import cast


def too_deep(value: object, levels: int) -> bool:
    """Return whether a value has more levels below it than are allowed.

    Args:
        value: Plain data: its dicts, lists and tuples are looked into.
        levels: The most levels.
    """
    layer = [value]
    for _ in range(levels + 1):
        inner: list[object] = []
        for each in layer:
            if isinstance(each, list | tuple):
                inner += cast("list[object]", each)
            elif isinstance(each, Mapping):
                inner += cast("Mapping[str, object]", each).values()
        layer = inner
        if not layer:
            return False
    return True
