"""Python in WebAssembly: the image, its native code, and the instances that scripts run in.

Nothing here imports wasmtime before an instance is made.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from lineshaft.errors import WasmUnavailable
from lineshaft.sandbox.webassembly._asker import Asker
from lineshaft.sandbox.webassembly._errors import (
    GuestStopped,
    GuestTooLarge,
    GuestTrapped,
    TrapKind,
)
from lineshaft.sandbox.webassembly._image import Image, image
from lineshaft.sandbox.webassembly._interfaces import GUEST_IMPORTS, LONGEST_TEXT, Host
from lineshaft.sandbox.webassembly._native import (
    NativeCode,
    native_code,
    native_code_ready,
    remove_native_code,
)
from lineshaft.sandbox.webassembly._pool import Instances

if TYPE_CHECKING:
    from lineshaft.sandbox.webassembly._instance import Instance
    from lineshaft.sandbox.webassembly._runtime import component_imports, linker_definitions

_AT_FIRST_USE = {
    "Instance": "_instance",
    "component_imports": "_runtime",
    "linker_definitions": "_runtime",
}
"""Where names come from that need wasmtime."""

__all__ = [
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
    "TrapKind",
    "WasmUnavailable",
    "component_imports",
    "image",
    "linker_definitions",
    "native_code",
    "native_code_ready",
    "remove_native_code",
]


def __getattr__(name: str) -> object:
    if name not in _AT_FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: object = getattr(import_module(f"{__name__}.{_AT_FIRST_USE[name]}"), name)
    globals()[name] = value
    return value
