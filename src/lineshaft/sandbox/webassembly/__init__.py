"""Python in WebAssembly: the image, its native code, and the instances that scripts run in.

Nothing here imports wasmtime before an instance is made.
"""

from lineshaft.errors import WasmUnavailable
from lineshaft.sandbox.webassembly._asker import Asker
from lineshaft.sandbox.webassembly._errors import (
    GuestStopped,
    GuestTooLarge,
    GuestTrapped,
    TrapKind,
)
from lineshaft.sandbox.webassembly._image import Image, image
from lineshaft.sandbox.webassembly._instance import Instance
from lineshaft.sandbox.webassembly._interfaces import GUEST_IMPORTS, LONGEST_TEXT, Host
from lineshaft.sandbox.webassembly._native import (
    NativeCode,
    native_code,
    native_code_ready,
    remove_native_code,
)
from lineshaft.sandbox.webassembly._pool import Instances

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
    "image",
    "native_code",
    "native_code_ready",
    "remove_native_code",
]
