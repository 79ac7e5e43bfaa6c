"""Finding tools by words."""

from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock
from typing import TYPE_CHECKING

from lineshaft.tools._names import script_name
from lineshaft.values import ToolSpec

if TYPE_CHECKING:
    from lineshaft.tools.search.index import Index

_KEPT = 8
"""So many catalogues keep their index."""


def search_specs(
    specs: Iterable[ToolSpec], words: str, limit: int = 10, *, namespace: str | None = None
) -> tuple[ToolSpec, ...]:
    """Return the tools that fit some words best, the best first.

    Args:
        specs: All tools.
        words: The words to find; without any, the first tools are returned.
        limit: How many at the most.
        namespace: Only tools of this server, in either spelling; an empty string: only of none.

    Returns:
        Tools that have the words, or others that often stand for them, in name, description or
        parameters. A rare word counts for more than a common one, and the name for more than the
        rest. None where nothing fits: the best of them have too little of the request.
    """
    known = tuple(specs)
    ranked = _INDEXES.of(known).search(words)
    found = known if ranked is None else ranked
    if namespace is not None:
        spelt = script_name(namespace)
        found = [spec for spec in found if script_name(spec.namespace) == spelt]
    return tuple(found[: max(0, limit)])


class _Indexes:
    """Indexes of the catalogues that were searched last; for any thread."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: OrderedDict[tuple[int, ...], Index] = OrderedDict()

    def of(self, specs: tuple[ToolSpec, ...]) -> "Index":
        """Return the index of some tools: the one there is while they are the very same."""
        key = tuple(map(id, specs))  # an index holds its tools, so that no other can have their ids
        with self._lock:
            index = self._kept.get(key)
            if index is not None:
                self._kept.move_to_end(key)
                return index
        from lineshaft.tools.search.index import Index  # noqa: PLC0415  many hosts never search

        index = Index(specs)
        with self._lock:
            self._kept[key] = index
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return index


_INDEXES = _Indexes()
