"""Programs of `python_run` in WebAssembly: Python as it is, over the files of a private copy.

Unlike a script a program has no tools and no turns: `open` and `os` are the real ones, on folders
that the host opened. Parts of an operating system that WebAssembly lacks are mended here, or raise
an error.
"""

from .running import run

__all__ = ["run"]
