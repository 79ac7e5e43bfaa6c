"""Program mode of the image: one program over a private copy of a workspace, in a child process.

Names are loaded when they are first used: the child imports as little as it can.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.sandbox.webassembly.program._copy import Bounds, WorkspaceCopy
    from lineshaft.sandbox.webassembly.program._run import ProgramEnd, ProgramOrder, run_program

_AT_FIRST_USE = {
    **dict.fromkeys(("Bounds", "WorkspaceCopy"), "_copy"),
    **dict.fromkeys(("ProgramEnd", "ProgramOrder", "run_program"), "_run"),
}

__all__ = ["Bounds", "ProgramEnd", "ProgramOrder", "WorkspaceCopy", "run_program"]


def __getattr__(name: str) -> object:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_AT_FIRST_USE[name]}"), name)
    globals()[name] = value
    return value
