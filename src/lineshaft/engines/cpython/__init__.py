"""The engine `cpython`: full Python in a jail, a forked process for each script."""

from lineshaft.engines.cpython._engine import CPythonEngine

__all__ = ["CPythonEngine"]
