"""Bounds of a tool's result: whole for code, a part that fits for a model's direct call."""

from collections.abc import Sequence

from lineshaft.errors import ToolError
from lineshaft.values import Context

WHOLE_BYTES = 10_000_000
"""The most bytes of a file or list that code is given; beyond it is an error, never a cut."""

WHOLE_ITEMS = 100_000
"""The most entries or matches that code is given."""


class Bound:
    """Counts what a result holds already.

    Args:
        call: The call whose result it is.
        direct: The most items of a model's direct call.
        hint: What to do about a result that is too large for code.
    """

    def __init__(self, call: Context, *, direct: int, hint: str) -> None:
        self.cut = False
        """Whether something was left out, which happens in direct calls only."""

        self._whole = call.whole
        self._items = WHOLE_ITEMS if call.whole else direct
        self._bytes = WHOLE_BYTES
        self._hint = hint

    def takes(self, texts: Sequence[str]) -> bool:
        """Return whether an item with these texts still fits, and count it.

        Raises:
            ToolError: `E_TOO_LARGE`, where code is the caller: it is never given less in silence.
        """
        self._items -= 1
        self._bytes -= sum(map(size, texts))
        if self._items >= 0 and self._bytes >= 0:
            return True
        if self._whole:
            raise too_large(
                f"the result has more than {WHOLE_ITEMS:,} entries or {WHOLE_BYTES:,} bytes",
                self._hint,
            )
        self.cut = True
        return False


def size(text: str) -> int:
    """Return the size of a text in UTF-8, in bytes."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def too_large(message: str, hint: str) -> ToolError:
    """Return the error for a result or an argument that is larger than it may be."""
    return ToolError("E_TOO_LARGE", message, hint=hint)
