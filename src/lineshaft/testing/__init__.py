"""For tests, yours too: engines that need no interpreter, models that need no provider.

Names are loaded when they are first used: pytest reads this room at its start, for the fixture.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.testing._engine import ScriptedEngine
    from lineshaft.testing._model import Scripted, ScriptedModel, call, calls, exit_with, say
    from lineshaft.testing._plugin import ScriptedAgents

__all__ = [
    "Scripted",
    "ScriptedAgents",
    "ScriptedEngine",
    "ScriptedModel",
    "call",
    "calls",
    "exit_with",
    "say",
]

_FILES = {"ScriptedAgents": "_plugin", "ScriptedEngine": "_engine"}


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_FILES.get(name, '_model')}"), name)
    globals()[name] = value
    return value
