"""The tool `python_run`: a Python program in a jail or in WebAssembly."""

from lineshaft.kit.python.tool import python_run

__all__ = [
    "python_run",
]
