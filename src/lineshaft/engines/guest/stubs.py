"""Modules that only raise when they are used, for packages that import them at their top."""

import sys
from collections.abc import Mapping
from types import ModuleType
from typing import Any, NoReturn

from .changes import Changes
from .missing import STUBBED

_SIZES = {
    "c_bool": 1, "c_char": 1, "c_byte": 1, "c_ubyte": 1, "c_int8": 1, "c_uint8": 1, "c_short": 2,
    "c_ushort": 2, "c_int16": 2, "c_uint16": 2, "c_wchar": 4, "c_int": 4, "c_uint": 4, "c_long": 4,
    "c_ulong": 4, "c_int32": 4, "c_uint32": 4, "c_size_t": 4, "c_ssize_t": 4, "c_float": 4,
    "c_void_p": 4, "c_char_p": 4, "c_wchar_p": 4, "py_object": 4, "c_longlong": 8,
    "c_ulonglong": 8, "c_int64": 8, "c_uint64": 8, "c_double": 8, "c_longdouble": 16,
}  # fmt: skip  # words and numbers, not one a line
_NAMES: Mapping[str, str] = {
    "bz2": "BZ2File BZ2Compressor BZ2Decompressor open compress decompress",
    "ctypes": (
        "CDLL PyDLL LibraryLoader POINTER pointer byref addressof cast create_string_buffer "
        "create_unicode_buffer CFUNCTYPE PYFUNCTYPE Array string_at memmove memset"
    ),
    "fcntl": "fcntl flock lockf ioctl",
    "lzma": "LZMAFile LZMACompressor LZMADecompressor open compress decompress",
    "mmap": "mmap",
    "resource": "getrusage getrlimit setrlimit getpagesize",
}


def install(changes: Changes) -> None:
    """Make the modules importable; only after all of the library was imported."""
    for name, names in _NAMES.items():
        module = ModuleType(name, f"Not in this engine: {STUBBED[name]}.")
        vars(module).update({n: _closed(name, n) for n in names.split()})
        changes.item(sys.modules, name, module)
    vars(sys.modules["lzma"]).update(
        LZMAError=type("LZMAError", (Exception,), {"__module__": "lzma"}),
        FORMAT_AUTO=0, FORMAT_XZ=1, FORMAT_ALONE=2, FORMAT_RAW=3, PRESET_DEFAULT=6,
        CHECK_NONE=0, CHECK_CRC32=1, CHECK_CRC64=4, CHECK_SHA256=10,
    )  # fmt: skip  # words and numbers, not one a line
    vars(sys.modules["fcntl"]).update(LOCK_SH=1, LOCK_EX=2, LOCK_NB=4, LOCK_UN=8, F_GETFL=3)
    vars(sys.modules["fcntl"]).update(F_SETFL=4, F_GETFD=1, F_SETFD=2)
    vars(sys.modules["mmap"]).update(ACCESS_READ=1, ACCESS_WRITE=2, ACCESS_COPY=3, PAGESIZE=4096)
    vars(sys.modules["resource"]).update(RUSAGE_SELF=0, RUSAGE_CHILDREN=-1, RLIMIT_AS=9)
    vars(sys.modules["resource"]).update(RLIMIT_STACK=3, RLIMIT_NOFILE=7, RLIM_INFINITY=-1)
    _install_ctypes(sys.modules["ctypes"])


def _install_ctypes(module: ModuleType) -> None:
    kinds = {name: type(name, (_Simple,), {"_size": size}) for name, size in _SIZES.items()}
    aggregates = {name: type(name, (_Aggregate,), {}) for name in ("Structure", "Union")}
    for kind in (*kinds.values(), *aggregates.values()):
        kind.__module__ = "ctypes"
    vars(module).update(kinds)
    vars(module).update(aggregates)
    vars(module).update(sizeof=_sizeof, alignment=_sizeof, ArgumentError=TypeError)


class _Simple:
    """A number as C has it."""

    _size = 0

    def __init__(self, value: object = 0) -> None:
        self.value = value


class _Aggregate:
    """A structure as C has it: it can be declared."""

    def __init__(self, *_args: object, **_options: object) -> None:
        raise NotImplementedError(_message("ctypes", type(self).__name__))


def _sizeof(kind: Any) -> int:
    size = getattr(kind, "_size", None)
    if size is None:
        raise NotImplementedError(_message("ctypes", "sizeof"))
    return size


def _message(module: str, name: str) -> str:
    return f"{module}.{name} is not in the engine `wasm` ({STUBBED[module]}); `cpython` has it"


def _closed(module: str, name: str) -> type:
    """Return a class that cannot be used."""

    def refuse(*_args: object, **_options: object) -> NoReturn:
        raise NotImplementedError(_message(module, name))

    return type(name, (), {"__module__": module, "__new__": refuse})
