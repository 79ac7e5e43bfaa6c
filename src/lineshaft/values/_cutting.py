"""Cutting of text between words, so that no secret is cut in two.

Redaction comes before cutting: half a secret has no form by which it could be known. Where text is
cut by what knows no secrets of the session (a capture of output, a guard, a message of a server),
it is cut between words, so that what stands at the edge is there or is not.

Not covered: a secret with blanks or quotes in it, and one that is longer than the text around an
edge which is looked at.
"""

_ROOM = 2_000
_MARKS = ("\n", " \t\r", "\"'`,;&|(){}[]<>")


def beginning(text: str, most: int, *, lines: bool = False) -> str:
    """Return at most so many characters from the beginning of a text; its last word is whole.

    Args:
        text: The text.
        most: Characters.
        lines: End with a whole line, where one ends nearby.
    """
    if len(text) <= most:
        return text
    for marks in _MARKS if lines else (_MARKS[0] + _MARKS[1], _MARKS[2]):
        low = max(0, most - _ROOM)
        at = max(text.rfind(mark, low, most + 1) for mark in marks)
        if at > 0:
            return text[: min(at + 1, most)] if marks == _MARKS[2] else text[:at]
    return text[:most]


def ending(text: str, most: int, *, lines: bool = False) -> str:
    """Return at most so many characters from the end of a text; its first word is whole.

    Args:
        text: The text.
        most: Characters.
        lines: Begin with a whole line, where one begins nearby.
    """
    if len(text) <= most:
        return text
    start = len(text) - most
    for marks in _MARKS if lines else (_MARKS[0] + _MARKS[1], _MARKS[2]):
        found = [text.find(mark, start - 1 if start else 0, start + _ROOM) for mark in marks]
        at = min((each for each in found if each >= 0), default=-1)
        if 0 <= at < len(text) - 1:
            return text[at + 1 :]
    return text[start:]
