"""Observed results of a tool that does not declare what it returns."""

from collections.abc import Mapping

from lineshaft.values._struct import Struct


class ObservedShape(Struct, frozen=True, kw_only=True):
    """The observed shape of one tool's results; not a promise."""

    tool: str
    """Canonical name."""

    version: str
    """Digest of the tool's own description; it changes with it."""

    schema: Mapping[str, object]
    """A JSON Schema that all results fitted; types and keys, never a value."""

    count: int = 1
    """How many results."""

    drifted: int = 0
    """Results that did not fit the shape of many before them."""

    last_seen: str = ""
    """Time of the last result, in UTC; empty where it is not kept yet."""
