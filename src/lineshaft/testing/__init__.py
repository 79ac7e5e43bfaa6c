"""For tests, yours too: engines that need no interpreter."""

from lineshaft.testing._engine import ScriptedEngine

__all__ = ["ScriptedEngine"]
