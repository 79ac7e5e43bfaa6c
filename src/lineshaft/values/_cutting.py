"""Cutting of text between words, so that no secret is cut in two.

Redaction comes before cutting: half a secret has no form by which it could be known. Where text is
cut before it is redacted (a capture of output, a line of a long file, a message of a server), the
cut goes between words, and around every secret that a finder sees in the text on both sides of it.

Not covered: a secret that is longer than what is looked at around a cut, and parts that a script
or a tool cuts out by itself.
"""

from collections.abc import Sequence
from typing import Protocol

OVERLAP = 16_384
"""Characters on each side of a cut that are looked at, where no secret is longer."""

_ROOM = 2_000
_MARKS = ("\n", " \t\r", "\"'`,;&|(){}[]<>")


class SecretFinder(Protocol):
    """Finds secrets, which must not be cut in two: for rooms that know none themselves."""

    @property
    def overlap(self) -> int:
        """Characters to look at on each side of a cut: the longest secret, or more."""
        ...

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """Return where secrets stand in a text: beginning and end of each, in any order.

        A secret that is cut off by the end of the text counts to its end, as far as its form
        shows where it begins.
        """
        ...

    def value(self, value: object) -> object:
        """Return a JSON-like copy of a value without its secrets."""
        ...


class _NoSecrets:
    @property
    def overlap(self) -> int:
        return OVERLAP

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        del text
        return ()

    def value(self, value: object) -> object:
        return value


NO_SECRETS: SecretFinder = _NoSecrets()
"""Finds none: for text that is not a session's."""


def beginning(
    text: str, most: int, *, lines: bool = False, secrets: SecretFinder = NO_SECRETS
) -> str:
    """Return at most so many characters from the beginning of a text; its last word is whole.

    Args:
        text: The text.
        most: Characters.
        lines: End with a whole line, where one ends nearby.
        secrets: What is found is in the part whole, or not at all.
    """
    if len(text) <= most:
        return text
    at = _end_of_beginning(text, most, lines=lines)
    return text[: _around(text, at, secrets)[0]]


def ending(text: str, most: int, *, lines: bool = False, secrets: SecretFinder = NO_SECRETS) -> str:
    """Return at most so many characters from the end of a text; its first word is whole.

    Args:
        text: The text.
        most: Characters.
        lines: Begin with a whole line, where one begins nearby.
        secrets: What is found is in the part whole, or not at all.
    """
    if len(text) <= most:
        return text
    at = _start_of_ending(text, len(text) - most, lines=lines)
    return text[_around(text, at, secrets)[1] :]


def _end_of_beginning(text: str, most: int, *, lines: bool) -> int:
    for marks in _MARKS if lines else (_MARKS[0] + _MARKS[1], _MARKS[2]):
        low = max(0, most - _ROOM)
        at = max(text.rfind(mark, low, most + 1) for mark in marks)
        if at > 0:
            return min(at + 1, most) if marks == _MARKS[2] else at
    return most


def _start_of_ending(text: str, start: int, *, lines: bool) -> int:
    for marks in _MARKS if lines else (_MARKS[0] + _MARKS[1], _MARKS[2]):
        found = [text.find(mark, start - 1 if start else 0, start + _ROOM) for mark in marks]
        at = min((each for each in found if each >= 0), default=-1)
        if 0 <= at < len(text) - 1:
            return at + 1
    return start


def _around(text: str, at: int, secrets: SecretFinder) -> tuple[int, int]:
    """Return the ends of the secrets that a place is inside of; the place itself, twice, if none.

    Secrets may overlap, and then all of them are one.
    """
    low = max(0, at - secrets.overlap)
    first = last = at - low
    spans = secrets.spans(text[low : at + secrets.overlap])
    for start, end in sorted(spans, reverse=True):
        if start < first < end:
            first = start
    for start, end in sorted(spans):
        if start < last < end:
            last = end
    return low + first, low + last
