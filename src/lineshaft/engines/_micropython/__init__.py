"""MicroPython inside WebAssembly: a second small sandbox."""

from lineshaft.engines._micropython._engine import MicroPythonEngine
from lineshaft.engines._micropython._lacks import micropython_lacks

__all__ = ["MicroPythonEngine", "micropython_lacks"]
