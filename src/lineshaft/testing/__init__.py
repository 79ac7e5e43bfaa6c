"""For tests, yours too: engines that need no interpreter, models that need no provider."""

from lineshaft.testing._engine import ScriptedEngine
from lineshaft.testing._model import Scripted, ScriptedModel, call, calls, exit_with, say

__all__ = ["Scripted", "ScriptedEngine", "ScriptedModel", "call", "calls", "exit_with", "say"]
