"""What executes scripts, and what checks their types; nothing heavy is imported before use."""

from importlib import import_module
from typing import TYPE_CHECKING

from lineshaft.engines._checker import MontyChecker
from lineshaft.engines._makers import make_cpython, make_micropython
from lineshaft.engines._monty import MontyEngine
from lineshaft.engines._subset import Subset, subset

if TYPE_CHECKING:
    from lineshaft.engines._bundle import Bundle, Interpreter, build, install, resolve
    from lineshaft.engines._jail import (
        Boundary,
        Changes,
        FileChange,
        Jail,
        Jailed,
        Walls,
        best_jail,
        probe,
    )
    from lineshaft.engines._micropython import micropython_lacks

_AT_FIRST_USE = {
    **dict.fromkeys(("Bundle", "Interpreter", "build", "install", "resolve"), "_bundle"),
    **dict.fromkeys(
        ("Boundary", "Changes", "FileChange", "Jail", "Jailed", "Walls", "best_jail", "probe"),
        "_jail",
    ),
    "micropython_lacks": "_micropython",
}
"""Where names come from that are loaded when they are first used."""

__all__ = [
    "Boundary",
    "Bundle",
    "Changes",
    "FileChange",
    "Interpreter",
    "Jail",
    "Jailed",
    "MontyChecker",
    "MontyEngine",
    "Subset",
    "Walls",
    "best_jail",
    "build",
    "install",
    "make_cpython",
    "make_micropython",
    "micropython_lacks",
    "probe",
    "resolve",
    "subset",
]


def __getattr__(name: str) -> object:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_AT_FIRST_USE[name]}"), name)
    globals()[name] = value
    return value
