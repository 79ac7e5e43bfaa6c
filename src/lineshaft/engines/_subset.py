"""What the small engine's Python has and lacks, as it was tried (`_subset_probe.py`)."""

import json
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import cast

from lineshaft.engines._prelude import MENDED

Names = frozenset[str]
_Lists = dict[str, Names]


@dataclass(frozen=True, slots=True, kw_only=True)
class Subset:
    """Answers questions about the small engine's Python."""

    engine: str = ""
    """Name and version of the library that was tried."""

    python: str = ""
    """The full Python that it was compared with."""

    lacks: Names = frozenset()
    """Features that it refuses."""

    differs: Names = frozenset()
    """Features that it takes, and that do something else."""

    methods: Names = frozenset()
    """Methods with double underscores that it calls in a script's classes."""

    modules: _Lists = field(default_factory=dict[str, Names])
    """What can be imported, with the names in it."""

    builtins: Names = frozenset()
    members: _Lists = field(default_factory=dict[str, Names])
    """Attributes that values have, by kind."""

    missing: _Lists = field(default_factory=dict[str, Names])
    """Attributes that they have in full Python only."""

    classes: _Lists = field(default_factory=dict[str, Names])
    """Attributes of classes themselves, such as `dict.fromkeys`."""

    keywords: _Lists = field(default_factory=dict[str, Names])
    """Keywords that functions take; functions that are not here were not tried."""

    arguments: _Lists = field(default_factory=dict[str, Names])
    """Keywords that methods take, by the method's name."""

    absent: Names = frozenset()
    """Attributes that nothing has here, and some values have in full Python."""

    unseen: Names = frozenset()
    """Attributes that some value has in full Python only."""

    attributes: Names = frozenset()
    """Attributes that some value has in either Python."""

    def has_module(self, name: str) -> bool:
        """Return whether a dotted name can be imported."""
        return name in self.modules

    def has_member(self, name: str) -> bool | None:
        """Return whether a module or class has what a dotted name says; None: not tried."""
        home, _, member = name.rpartition(".")
        known = self.modules.get(home)
        if known is None:
            known = self.classes.get(home)
        return None if known is None else member in known or name in self.modules


@cache
def subset() -> Subset:
    """Return what the small engine of this version has."""
    text = (files("lineshaft.engines") / "_subset.json").read_text(encoding="utf-8")
    facts = cast("dict[str, object]", json.loads(text))
    ready = {name: _names(value) for name, value in facts.items()}
    ready["differs"] = cast("Names", ready["differs"]) - MENDED
    has = frozenset[str]().union(*cast("_Lists", ready["members"]).values())
    lacks = frozenset[str]().union(*cast("_Lists", ready["missing"]).values())
    of_classes = frozenset[str]().union(*cast("_Lists", ready["classes"]).values())
    made = {"absent": lacks - has - of_classes, "unseen": lacks, "attributes": has | lacks}
    return Subset(**ready, **made)  # pyright: ignore[reportArgumentType]  the file has the same names


def _names(value: object) -> object:
    if isinstance(value, list):
        return frozenset(cast("list[str]", value))
    if isinstance(value, dict):
        lists = cast("dict[str, list[str]]", value)
        return {name: frozenset(names) for name, names in lists.items()}
    return value
