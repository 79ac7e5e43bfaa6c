"""The walls around programs: jails, the bundled Python, WebAssembly; loaded at first use."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lineshaft.sandbox.bundle import (
        Bundle,
        Interpreter,
        PackageTarget,
        build,
        install,
        lock_of,
        packages_for,
        resolve,
    )
    from lineshaft.sandbox.jail import (
        Boundary,
        Changes,
        Jail,
        Jailed,
        JailedChange,
        Walls,
        best_jail,
        probe,
    )
    from lineshaft.sandbox.webassembly import (
        GUEST_IMPORTS,
        LONGEST_TEXT,
        Asker,
        GuestStopped,
        GuestTooLarge,
        GuestTrapped,
        Host,
        Image,
        Instance,
        Instances,
        NativeCode,
        WasmUnavailable,
        component_imports,
        image,
        linker_definitions,
        native_code,
        native_code_ready,
        remove_native_code,
    )
    from lineshaft.sandbox.webassembly.program import (
        Bounds,
        ProgramEnd,
        ProgramOrder,
        WorkspaceCopy,
        run_program,
    )

_AT_FIRST_USE = {
    **dict.fromkeys(
        (
            "Bundle",
            "Interpreter",
            "PackageTarget",
            "build",
            "install",
            "lock_of",
            "packages_for",
            "resolve",
        ),
        "bundle",
    ),
    **dict.fromkeys(
        ("Boundary", "Changes", "JailedChange", "Jail", "Jailed", "Walls", "best_jail", "probe"),
        "jail",
    ),
    **dict.fromkeys(
        (
            "GUEST_IMPORTS",
            "LONGEST_TEXT",
            "Asker",
            "GuestStopped",
            "GuestTooLarge",
            "GuestTrapped",
            "Host",
            "Image",
            "Instance",
            "Instances",
            "NativeCode",
            "WasmUnavailable",
            "component_imports",
            "image",
            "linker_definitions",
            "native_code",
            "native_code_ready",
            "remove_native_code",
        ),
        "webassembly",
    ),
    **dict.fromkeys(
        ("Bounds", "ProgramEnd", "ProgramOrder", "WorkspaceCopy", "run_program"),
        "webassembly.program",
    ),
}
"""Where names come from that are loaded when they are first used."""

__all__ = [
    "GUEST_IMPORTS",
    "LONGEST_TEXT",
    "Asker",
    "Boundary",
    "Bounds",
    "Bundle",
    "Changes",
    "GuestStopped",
    "GuestTooLarge",
    "GuestTrapped",
    "Host",
    "Image",
    "Instance",
    "Instances",
    "Interpreter",
    "Jail",
    "Jailed",
    "JailedChange",
    "NativeCode",
    "PackageTarget",
    "ProgramEnd",
    "ProgramOrder",
    "Walls",
    "WasmUnavailable",
    "WorkspaceCopy",
    "best_jail",
    "build",
    "component_imports",
    "image",
    "install",
    "linker_definitions",
    "lock_of",
    "native_code",
    "native_code_ready",
    "packages_for",
    "probe",
    "remove_native_code",
    "resolve",
    "run_program",
]


def __getattr__(name: str) -> object:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_AT_FIRST_USE[name]}"), name)
    globals()[name] = value
    return value
