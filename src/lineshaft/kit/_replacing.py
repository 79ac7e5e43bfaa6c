r"""Replacement of exact text, with any line breaks in the file.

Text that has no `\r` of its own matches `\n` and `\r\n` alike, and what replaces it gets the line
breaks that the file mostly has. Text with `\r` is taken to the letter.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property

from lineshaft.errors import ToolError
from lineshaft.kit._bounds import too_large
from lineshaft.kit._failures import invalid


def replaced(text: str, old: str, new: str, *, every: bool, name: str, most: int) -> str:
    """Return a text with another in place of an exact one.

    Args:
        text: Where to look.
        old: What to look for.
        new: What to put there; empty deletes.
        every: Replace all matches; otherwise there must be exactly one.
        name: How the caller knows this edit.
        most: Characters that the result may have.

    Raises:
        ToolError: Nothing to look for, nothing found, several found, or the result is too long.
    """
    if not old:
        raise invalid(f"{name}: `old` is empty", "Write a whole file with `write_file`.")
    if old == new:
        raise invalid(f"{name}: `old` and `new` are the same")
    places = _Places(text, folded="\r" not in old + new)
    if places.folded and text.count("\r\n") * 2 > text.count("\n"):
        new = new.replace("\n", "\r\n")
    count = places.count(old)
    if not count:
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"{name}: the text of `old` is not in the file",
            hint="Read the file and copy the text exactly, indentation included.",
        )
    if not every and places.again(old):
        raise ToolError(
            "E_PRECONDITION_FAILED",
            f"{name}: the text of `old` is {max(2, count)} times in the file",
            hint="Give more of the text around it, or set `replace_all`.",
        )
    if len(text) + count * (len(new) - len(old)) > most:
        raise too_large(
            f"{name}: the text would have more than {most:,} characters",
            "Replace fewer places at once, or let a command make the file.",
        )
    return places.replaced(old, new)


class _Places:
    r"""Finds text in time that is in proportion to both, whatever they are.

    An expression over the text would take the product of both for texts such as `aaaa...b`, and
    hold up the whole host meanwhile.

    Args:
        text: Where to look.
        folded: Whether `\r\n` is looked at as `\n`.
    """

    def __init__(self, text: str, *, folded: bool) -> None:
        self.folded = folded
        self._text = text
        self._plain = text.replace("\r\n", "\n") if folded else text
        self._dropped = [at.start() for at in re.finditer("\r\n", text)] if folded else []

    def count(self, old: str) -> int:
        """Return how often a text is there, without those that overlap an earlier one."""
        return self._plain.count(old)

    def again(self, old: str) -> bool:
        """Return whether a text stands more than once, also where it overlaps the first."""
        return self._plain.find(old, self._plain.find(old) + 1) >= 0

    def replaced(self, old: str, new: str) -> str:
        """Return the text with another one in each place of `old`."""
        if not self._dropped or "\n" not in old:
            return self._text.replace(old, new)  # no place holds a break that lost a character
        parts: list[str] = []
        end = 0
        for start in self._places(old):
            parts += [self._text[end : self._as_written(start)], new]
            end = self._as_written(start + len(old))
        return "".join([*parts, self._text[end:]])

    def _places(self, old: str) -> Iterator[int]:
        at = self._plain.find(old)
        while at >= 0:
            yield at
            at = self._plain.find(old, at + len(old))

    def _as_written(self, at: int) -> int:
        """Return the place in the text of one in the folded text, before a break that it is at."""
        return at + bisect_left(self._dropped_plain, at)

    @cached_property
    def _dropped_plain(self) -> list[int]:
        """Where the breaks that lost a character stand in the folded text."""
        return [at - number for number, at in enumerate(self._dropped)]
