"""Makes engines that are heavy, or that a machine may not be able to hold, at their first use."""

from pathlib import Path

from lineshaft.errors import NoBoundary
from lineshaft.values import Engine, PythonOptions


def make_cpython(options: PythonOptions, workspace: Path | None) -> Engine:
    """Return the engine `cpython`; its boundary was tried. May take some tenths of a second.

    Args:
        options: Which Python, with what, behind which boundary.
        workspace: The folder that scripts may import from, where the options say so.

    Raises:
        NoBoundary: Nothing on this machine can hold full Python, or not the one asked for.
    """
    try:
        from lineshaft.engines._cpython import CPythonEngine  # noqa: PLC0415  at its first use
        from lineshaft.engines._jail import best_jail  # noqa: PLC0415  at its first use
    except ImportError as error:
        raise NoBoundary(f"full Python cannot be held here: {error}") from error
    return CPythonEngine(options=options, jail=best_jail(options.boundary), workspace=workspace)


def make_micropython() -> Engine:
    """Return the engine `micropython`.

    Raises:
        NoBoundary: Its library is not installed.
    """
    try:
        from lineshaft.engines._micropython import (  # noqa: PLC0415  at its first use
            MicroPythonEngine,
        )
    except ImportError as error:
        raise NoBoundary(f"the engine micropython cannot start here: {error}") from error
    return MicroPythonEngine()
