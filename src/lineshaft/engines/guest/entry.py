"""The way into a guest: `prepare` once, when an image or a parent is made, then `run`."""

import base64
import gc
import marshal
import sys
from collections.abc import Callable, Container, Mapping
from typing import Any, cast

from . import closing, executors, files, imports, library, nesting, reports, script, stubs, waiting
from .changes import changes
from .codec import dumps, loads
from .missing import MISSING, STUBBED, reason
from .packaged import PackagedFiles
from .platform import Platform
from .rehearsal import rehearse
from .wire import Wire

_Perform = Callable[[Mapping[str, Any], Wire], str]
_PACKAGE = __name__.partition(".")[0]
_FOR_PAGES = ("bs4", "markdownify", "six", "soupsieve", "typing_extensions")
"""Packages that turn HTML into Markdown; not for scripts, which may bring their own."""

_REHEARSALS = 8
"""Until the interpreter has nothing left to specialise in what every script passes."""


class _Guest:
    """The preparation of the interpreter."""

    def __init__(self) -> None:
        self.platform = Platform()
        self.is_new = True


_guest = _Guest()


def prepare(platform: Platform | None = None) -> Mapping[str, Any]:
    """Prepare the parts that are alike for all orders, and close functions that cannot work.

    In WebAssembly it imports all of the standard library, since none can be imported later.

    Args:
        platform: The platform; None: WebAssembly.

    Returns:
        `python`, its version; `modules`, the modules of the library that can be imported;
        `missing`, the others with the reason. Empty outside of WebAssembly, where the library is
        unchanged.
    """
    _guest.platform = platform = platform or Platform()
    failed = library.import_all() if platform.is_wasm else {}
    if platform.is_wasm:
        _import_others()
    there = {*sys.modules, library.TOLD_AT_IMPORT}
    modules = [name for name in sorted(there) if _is_library(name)]
    packaged = None
    if platform.is_wasm:
        packaged = PackagedFiles(library.packed_sources())
        library.install_zones(changes, library.packed_zones())
    reports.hide_guest(changes)
    nesting.close_off(changes)
    executors.close_off(changes)
    waiting.close_off(changes)
    closing.close_off(changes, is_wasm=platform.is_wasm)
    files.Files(changes, packaged, platform.readable).close_off()
    imports.install(changes, packaged)
    if platform.is_wasm:
        stubs.install(changes)
        _hide({_PACKAGE, "tzdata", *_FOR_PAGES})
        sys.meta_path[:] = [each for each in sys.meta_path if not _is_for_pages(each)]
        for _ in range(_REHEARSALS):
            rehearse(platform)
        gc.collect()
        gc.freeze()
    absent = {name: reason(name) or told for name, told in failed.items()}
    missing = {**absent, **MISSING, **STUBBED} if platform.is_wasm else {}
    told = {"python": sys.version.split()[0], "modules": modules, "missing": missing}
    return told if platform.is_wasm else {}


def run(order: str, wire: Wire) -> str:
    """Carry out one order of the host and return its answer.

    Args:
        order: A JSON object; `do` names the action.
        wire: The host.

    Raises:
        ValueError: The order is not known.
    """
    if _guest.is_new:
        _guest.is_new = False
        _hide({_PACKAGE, "wit_world", "componentize_py_types", "lineshaft_image"})
    given = cast("dict[str, Any]", loads(order))
    perform = _ORDERS.get(given.get("do", ""))
    if perform is None:
        raise ValueError(f"an order that is not known: {given.get('do')!r}")
    return perform(given, wire)


def _script(order: Mapping[str, Any], wire: Wire) -> str:
    return script.run(order, wire, _guest.platform)


def _rehearse(order: Mapping[str, Any], wire: Wire) -> str:
    del order, wire
    rehearse(_guest.platform)
    return "{}"


def _compile(order: Mapping[str, Any], wire: Wire) -> str:
    """Compile modules of packages, for the host to keep."""
    del wire
    return dumps({"modules": [_compiled(module) for module in order["modules"]]})


def _compiled(module: Mapping[str, str]) -> Mapping[str, str]:
    name = module["name"]
    try:
        code = compile(module["source"], module["path"], "exec", dont_inherit=True)
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        return {"name": name, "error": f"{type(error).__name__}: {error}"}
    return {"name": name, "code": base64.b64encode(marshal.dumps(code)).decode()}


def _import_others() -> None:
    """Import what only a guest in WebAssembly does: reading, parsing, pages, and program mode."""
    from . import (  # noqa: PLC0415  they cost time where they are not used
        pages,
        parsing,
        program,
        reading,
    )

    others = {
        "read": reading,
        "judge": reading,
        "parse": parsing,
        "program": program,
        "page": pages,
    }
    for name, perform in others.items():
        _ORDERS[name] = _dumped(perform.run)


def _dumped(perform: Callable[[Mapping[str, Any], Wire], Mapping[str, Any]]) -> _Perform:
    def performed(order: Mapping[str, Any], wire: Wire) -> str:
        return dumps(perform(order, wire))

    return performed


_ORDERS: dict[str, _Perform] = {"script": _script, "rehearse": _rehearse, "compile": _compile}


def _is_library(name: str) -> bool:
    return name.partition(".")[0] in sys.stdlib_module_names


def _is_for_pages(finder: object) -> bool:
    """Return whether a finder of modules was left behind by one of those packages."""
    return type(finder).__module__ in _FOR_PAGES


def _hide(hidden: Container[str]) -> None:
    """Leave scripts none of the modules that are not Python's own."""
    for name in [name for name in sys.modules if name.partition(".")[0] in hidden]:
        del sys.modules[name]
