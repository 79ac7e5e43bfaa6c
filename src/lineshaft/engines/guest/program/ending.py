"""The end of a program, as the interpreter ends: files left open are written."""

import atexit
import gc
import sys
import weakref
from contextlib import suppress
from types import ModuleType
from typing import Any


def end(code: int, before: set[str]) -> int:
    """Act as the interpreter at its end, and return the exit code.

    Args:
        code: The value or code that the program ended with.
        before: The modules that were imported before it.
    """
    with suppress(BaseException):
        atexit._run_exitfuncs()  # type: ignore[attr-defined]  # noqa: SLF001  it prints errors by itself
    flushed = _flush()
    _drop_modules(before)
    return code if _flush() and flushed else code or 120


def _flush() -> bool:
    well = True
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None and not stream.closed:
                stream.flush()
        except Exception:  # noqa: BLE001  a closed pipe, or a stream of the program's own
            well = False
    return well


def _drop_modules(before: set[str]) -> None:
    """Release the objects of the program's modules, so that files left open are written."""
    dropped: list[weakref.ref[ModuleType]] = []
    for name in [name for name in sys.modules if name not in before or name == "__main__"]:
        module: Any = sys.modules.pop(name)
        if isinstance(module, ModuleType):
            dropped.append(weakref.ref(module))
        del module
    for name in ("last_exc", "last_type", "last_value", "last_traceback"):
        if hasattr(sys, name):
            delattr(sys, name)
    gc.collect()
    for reference in dropped:
        left = reference()
        if left is None:
            continue
        space = vars(left)
        for name in [name for name in space if name != "__builtins__"]:
            space[name] = None
        del left
    gc.collect()
