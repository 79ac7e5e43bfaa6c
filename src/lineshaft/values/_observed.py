"""What the results of a tool looked like, where the tool does not say it."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedShape:
    """What is known of one tool's results; observed, and promised by nobody."""

    tool: str
    """Canonical name."""

    version: str
    """Of what the tool says of itself: another one when that changes."""

    schema: Mapping[str, object]
    """A JSON Schema that all results fitted; types and keys, never a value."""

    count: int = 1
    """How many results."""

    drifted: int = 0
    """How many of them did not fit what many before them had shown."""

    last_seen: str = ""
    """When the last one came, in UTC; empty where it is not kept yet."""
