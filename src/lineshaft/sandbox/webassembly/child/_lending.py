"""Native code that a host lends to the processes of its programs, so that each need not hash it.

Lent code is sealed memory: it cannot be changed, and the child checks that it is sealed.
"""

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from lineshaft.sandbox.webassembly._native import native_code, native_code_of_this_process

if TYPE_CHECKING:
    from wasmtime import Engine
    from wasmtime.component import Component


def lent(handle: int | bytes) -> dict[str, Any]:
    """Return the key by which a child knows native code of this process; empty where it cannot.

    Args:
        handle: Of the code.
    """
    if sys.platform != "linux":
        return {}
    if isinstance(handle, bytes) or not _is_sealed(handle):
        return {}
    found = os.fstat(handle)
    path = f"/proc/{os.getpid()}/fd/{handle}"
    return {"path": path, "device": found.st_dev, "inode": found.st_ino}


def load(engine: "Engine", given: Mapping[str, Any]) -> "Component":
    """Return the component: of lent code where there is some, else of code loaded here.

    Args:
        engine: The engine that loads it.
        given: From `lent`.
    """
    from wasmtime import WasmtimeError  # noqa: PLC0415  only in the child
    from wasmtime.component import Component  # noqa: PLC0415  the same

    try:
        fd = _borrowed(given)
        if fd is not None:
            return Component.deserialize_file(engine, f"/proc/self/fd/{fd}")
        return native_code().load(engine)
    except WasmtimeError:  # it is for another processor
        return native_code_of_this_process().load(engine)


def _borrowed(given: Mapping[str, Any]) -> int | None:
    with suppress(OSError, KeyError):
        fd = os.open(given["path"], os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        found = os.fstat(fd)
        same = (found.st_dev, found.st_ino) == (given["device"], given["inode"])
        if same and _is_sealed(fd):
            return fd
        os.close(fd)
    return None


def _is_sealed(fd: int) -> bool:
    if sys.platform != "linux":
        return False
    import fcntl  # noqa: PLC0415  not everywhere

    wanted = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE
    try:
        return fcntl.fcntl(fd, fcntl.F_GET_SEALS) & wanted == wanted
    except OSError:
        return False  # a file of the disk
