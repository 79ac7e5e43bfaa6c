"""Modules of the standard library that the WebAssembly engine lacks, with the reason.

Errors and `docs/` are made of this table, and the choice of an engine.
"""

from collections.abc import Mapping

_NATIVE = "it is native code that is not built for WebAssembly"
_SYSTEM = "there is no operating system below the script"
_TERMINAL = "there is no terminal"
_SCREEN = "there is no screen"
_THREADS = "a script has one thread and no processes"

MISSING: Mapping[str, str] = {
    "_bz2": _NATIVE,
    "_ctypes": _NATIVE,
    "_curses": _TERMINAL,
    "_dbm": _NATIVE,
    "_gdbm": _NATIVE,
    "_hashlib": "there is no OpenSSL; hashlib works without it",
    "_interpreters": _THREADS,
    "_lzma": _NATIVE,
    "_multiprocessing": _THREADS,
    "_posixshmem": _SYSTEM,
    "_posixsubprocess": _SYSTEM,
    "_ssl": "there is no network",
    "_tkinter": _SCREEN,
    "_zstd": _NATIVE,
    "antigravity": _SCREEN,
    "compression.bz2": _NATIVE,
    "compression.lzma": _NATIVE,
    "compression.zstd": _NATIVE,
    "concurrent.interpreters": _THREADS,
    "curses": _TERMINAL,
    "dbm.gnu": _NATIVE,
    "dbm.ndbm": _NATIVE,
    "ensurepip": "packages come from the session's package set",
    "grp": _SYSTEM,
    "idlelib": _SCREEN,
    "msvcrt": "it is for Windows",
    "multiprocessing.shared_memory": _THREADS,
    "multiprocessing.synchronize": _THREADS,
    "pty": _TERMINAL,
    "pwd": _SYSTEM,
    "readline": _TERMINAL,
    "ssl": "there is no network",
    "syslog": _SYSTEM,
    "termios": _TERMINAL,
    "tkinter": _SCREEN,
    "tty": _TERMINAL,
    "turtle": _SCREEN,
    "turtledemo": _SCREEN,
    "winreg": "it is for Windows",
    "winsound": "it is for Windows",
}
"""Modules that cannot be imported, with the reason; their submodules are missing too."""

STUBBED: Mapping[str, str] = {
    "bz2": _NATIVE,
    "ctypes": _NATIVE,
    "fcntl": _SYSTEM,
    "lzma": _NATIVE,
    "mmap": _SYSTEM,
    "resource": _SYSTEM,
}
"""Modules that can be imported, since packages do it at their top, and raise when they are used."""


def reason(module: str) -> str | None:
    """Return why a module is missing; None: it is not."""
    parts = module.split(".")
    for end in range(1, len(parts) + 1):
        why = MISSING.get(".".join(parts[:end]))
        if why is not None:
            return why
    return None
