"""One program, from its source to its exit code."""

import base64
import builtins
import importlib
import io
import json
import linecache
import os
import sys
import zoneinfo
import zoneinfo._common
from types import ModuleType
from typing import Any

from .. import stubs
from ..changes import changes, undo_all
from ..executors import close_off
from ..wire import Wire
from .closed import close_processes
from .ending import end
from .files import Modes
from .imports import Explainer
from .sleeping import use_sleeping_loops
from .telling import Teller

_BUFFER = 65_536
_LIBRARY = "/python/lib/"
"""Folder that modules of the library give as their place."""


def run(order: dict[str, Any], wire: Wire) -> dict[str, Any]:
    """Run a program to its end.

    Args:
        order: Its name, place, source, arguments, folders and environment.
        wire: Takes the exit code of a program that ends by `os._exit`.

    Returns:
        Its exit code, and the permission bits that it set, by path.
    """
    _begin()
    _make_streams()
    _make_place(order)
    modes = Modes(order["root"], order["modes"])
    modes.install(changes)
    close_off(changes)
    close_processes(changes, lambda code: wire.write("exit", json.dumps(_told(code, modes))))
    use_sleeping_loops(changes)
    if order["packages"]:
        stubs.install(changes)  # many import more of the library than they use
    sys.meta_path.append(Explainer())
    sys.excepthook = Teller(order["root"], order["closed"])
    before = set(sys.modules)
    code = _carry_out(order)
    return _told(end(code, before), modes)


def _told(code: int, modes: Modes) -> dict[str, Any]:
    """Return the report to the host at the end."""
    return {"exit": code & 0xFF, "modes": modes.told()}


def _begin() -> None:
    """Put Python back as it was before it was made ready for scripts, but for its time zones."""
    load, names = zoneinfo._common.load_tzdata, zoneinfo.available_timezones  # noqa: SLF001  there is no public way
    undo_all()
    changes.attribute(zoneinfo._common, "load_tzdata", load)  # noqa: SLF001  the same
    changes.attribute(zoneinfo, "available_timezones", names)
    zoneinfo.reset_tzpath(())


def _make_streams() -> None:
    """Make the standard streams what they are for `python -X utf8`: the image's lose output."""
    for name, number, errors in (
        ("stdout", 1, "surrogateescape"),
        ("stderr", 2, "backslashreplace"),
    ):
        raw = io.FileIO(number, "w", closefd=False)
        # Output before a time-out must not be lost.
        stream = io.TextIOWrapper(
            io.BufferedWriter(raw, _BUFFER), "utf-8", errors, line_buffering=True
        )
        raw.name = f"<{name}>"
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.BytesIO()), "utf-8")  # type: ignore[assignment, misc]  the names are said to be final


def _make_place(order: dict[str, Any]) -> None:
    """Put the interpreter where its program expects it."""
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["root"])
    sys.argv[:] = [order["name"], *order["args"]]
    sys.orig_argv[:] = ["python", *sys.argv]
    sys.dont_write_bytecode = True
    library = [folder for folder in sys.path if folder.startswith(_LIBRARY)]
    sys.path[:] = [*order["folders"], *library]
    sys.path_importer_cache.clear()
    importlib.invalidate_caches()
    for name, value in (("last_exc", None), ("last_type", None), ("last_value", None)):
        if hasattr(sys, name):
            setattr(sys, name, value)


def _carry_out(order: dict[str, Any]) -> int:
    """Run the program's module and return its exit value."""
    name = order["name"]
    source = base64.b64decode(order["source"])
    text = source.decode("utf-8", "replace")
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    program = ModuleType("__main__")
    program.__dict__.update(__file__=order["place"], __builtins__=builtins)
    sys.modules["__main__"] = program
    try:
        exec(compile(source, name, "exec", dont_inherit=True), program.__dict__)  # noqa: S102  running the program is its purpose
    except SystemExit as error:
        return _exit_code(error)
    except BaseException as error:  # noqa: BLE001  as the interpreter does at the end of a program
        sys.excepthook(type(error), error, error.__traceback__)
        return 1
    return 0


def _exit_code(error: SystemExit) -> int:
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code
    sys.stderr.write(f"{error.code}\n")
    return 1
