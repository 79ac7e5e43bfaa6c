"""Engines, which execute scripts; each is loaded when it is made."""

from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from lineshaft.errors import NoBoundary
from lineshaft.values import Engine, PythonOptions

__all__ = ["make_cpython", "make_wasm", "wasm_packages"]


def make_wasm(options: PythonOptions) -> Engine:
    """Return the engine `wasm`.

    Args:
        options: The package set of its scripts.
    """
    from lineshaft.engines.wasm import WasmEngine  # noqa: PLC0415  at its first use

    return WasmEngine(options)


def make_cpython(options: PythonOptions) -> Engine:
    """Return the engine `cpython`; its boundary was tried. May take some tenths of a second.

    Args:
        options: The Python, its packages and its boundary.

    Raises:
        NoBoundary: No boundary holds full Python on this machine, or not the requested one.
    """
    try:
        from lineshaft.engines.cpython import CPythonEngine  # noqa: PLC0415  at its first use
        from lineshaft.sandbox.jail import best_jail  # noqa: PLC0415  at its first use
    except ImportError as error:
        raise NoBoundary(f"full Python cannot be held here: {error}") from error
    return CPythonEngine(options=options, jail=best_jail(options.boundary))


def wasm_packages(requirements: Sequence[str]) -> Path | None:
    """Return the folder of some packages for the Python in WebAssembly; installs them.

    Those that have no wheel for it are not in it.

    Raises:
        PythonNotFound: They cannot be had.
    """
    if not requirements:
        return None
    from lineshaft.engines.wasm import PackageSet  # noqa: PLC0415  at its first use

    def none_needed() -> NoReturn:
        raise RuntimeError("packages of programs are not tried out")

    return PackageSet(requirements, none_needed).folder()
