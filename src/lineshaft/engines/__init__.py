"""What executes scripts, and what checks their types; nothing heavy is imported before use."""

from lineshaft.engines._checker import MontyChecker
from lineshaft.engines._monty import MontyEngine

__all__ = ["MontyChecker", "MontyEngine"]
