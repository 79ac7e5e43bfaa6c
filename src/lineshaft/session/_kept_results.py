"""Results that were too long for a model: kept whole under handles, and read in parts."""

import secrets
from collections import OrderedDict
from typing import TypedDict

from lineshaft.errors import StateError, ToolError
from lineshaft.store import Store

_PREFIX = "result-"
_MOST = 32_000_000
"""Characters of all texts that are kept in memory."""


class ResultPart(TypedDict):
    """A part of a result that was too long for a model."""

    text: str
    start: int
    """Where the part begins, in characters from 0."""

    end: int
    """Where the next part begins."""

    total: int
    """Characters of the whole result."""


class KeptResults:
    """Texts by unguessable handles.

    The newest ones stay in memory; all of them in the store, where there is one.

    Args:
        store: Keeps them for `keep_days`; None: they end with this process.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._texts: OrderedDict[str, str] = OrderedDict()
        self._handles: dict[str, str] = {}
        """By the text in memory, which is kept once however often it is told."""

        self._size = 0

    def keep(self, text: str) -> str:
        """Keep a redacted text; return its handle."""
        if (known := self._handles.get(text)) is not None:
            return known
        handle = f"{_PREFIX}{secrets.token_urlsafe(16)}"
        self._texts[handle], self._handles[text] = text, handle
        self._size += len(text)
        while self._size > _MOST and len(self._texts) > 1:
            _, oldest = self._texts.popitem(last=False)
            del self._handles[oldest]
            self._size -= len(oldest)
        if self._store is not None:
            self._store.keep_result(handle, text)
        return handle

    async def part(self, handle: str, start: int, most: int) -> ResultPart:
        """Return a part of a text.

        Args:
            handle: The text's.
            start: Where the part begins, in characters from 0.
            most: The most characters of it.

        Raises:
            ToolError: `E_INVALID_ARGS`: the handle is unknown or its time is over, or
                a number is out of range.
        """
        if start < 0 or most < 1:
            raise ToolError("E_INVALID_ARGS", "start must be 0 or more, and count 1 or more")
        text = self._texts.get(handle)
        if text is None and self._store is not None and is_handle(handle):
            try:
                text = await self._store.result_text(handle)
            except StateError as error:
                raise ToolError.of(error) from error
        if text is None:
            hint = "take it from the end of a result that was cut; it is kept for some days"
            raise ToolError("E_INVALID_ARGS", f"there is no result {handle[:100]!r}", hint=hint)
        end = min(start + most, len(text))
        start = min(start, end)
        return ResultPart(text=text[start:end], start=start, end=end, total=len(text))


def is_handle(text: str) -> bool:
    """Return whether a text has the form of a handle."""
    return text.startswith(_PREFIX)
