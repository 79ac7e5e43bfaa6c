"""What `_reading.py` must know of a program; it stands for `lineshaft.values` inside."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """The names that a script may call."""

    inputs: Mapping[str, object]
    tools: frozenset[str]
    namespaces: Mapping[str, frozenset[str]]
