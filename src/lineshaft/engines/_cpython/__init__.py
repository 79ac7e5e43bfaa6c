"""The engine `cpython`: full Python in a jail, a forked child of a warm parent for each script."""

from lineshaft.engines._cpython._engine import CPythonEngine

__all__ = ["CPythonEngine"]
