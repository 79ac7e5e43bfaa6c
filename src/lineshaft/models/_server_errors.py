"""Errors that a model's server answers with: their words, and whether another try may help."""

from collections.abc import Iterable

MOST_SAID = 500
"""Characters of what a server says of an error."""

LONGEST_WAIT = 3_600.0
"""Seconds that a server may ask to be left alone."""

AGAIN = frozenset({408, 409, 425, 429})
"""Statuses after which another try may help, beside those from 500."""


def words_of(text: str, secrets: Iterable[str]) -> str:
    """Return a text of the server, cut, and without what was sent to it in confidence.

    Args:
        text: What it says.
        secrets: What it was sent: keys above all.
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return text if len(text) <= MOST_SAID else f"{text[:MOST_SAID]}..."
