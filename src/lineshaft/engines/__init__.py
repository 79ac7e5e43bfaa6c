"""What executes scripts, and what checks their types; nothing heavy is imported before use."""

from lineshaft.engines._checker import MontyChecker
from lineshaft.engines._monty import MontyEngine
from lineshaft.engines._subset import Subset, subset

__all__ = ["MontyChecker", "MontyEngine", "Subset", "subset"]
