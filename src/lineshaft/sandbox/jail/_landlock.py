"""Hide some paths from this process and its children, for good.

Above: `_syscall_broker.py`, for itself, before the inside starts; then not even sandlock's own
threads, which copy files for the inside, can read what is hidden. Landlock only ever allows, so all
that lies beside the hidden paths is allowed, entry by entry. Names and sizes are not hidden.
"""

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator

assert sys.platform == "linux"  # noqa: S101  a part of the broker

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_PATH_BENEATH = 1
_EXECUTE, _READ_FILE, _REFER = 1 << 0, 1 << 2, 1 << 13
_NO_NEW_PRIVS = 38


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled", ctypes.c_uint64),)


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def beside(hidden: Iterable[str]) -> Iterator[str]:
    """Return the paths that together are everything but the hidden ones."""
    out = {os.path.realpath(path) for path in hidden}
    above = {folder for path in out for folder in parents(path)}
    for folder in sorted(above - out):
        if any(parent in out for parent in parents(folder)):
            continue
        with os.scandir(folder) as entries:
            for entry in entries:
                path = os.path.join(folder, entry.name)  # noqa: PTH118  pathlib is not imported here
                if path not in above and path not in out and not entry.is_symlink():
                    yield path


def parents(path: str) -> Iterator[str]:
    """Return the folders above a path, up to the root."""
    while path != "/":
        path = os.path.dirname(path)  # noqa: PTH120  as above
        yield path


def hide(hidden: Iterable[str]) -> None:
    """Make some files and folders unreadable, for good.

    Raises:
        OSError: The kernel refuses.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    rights = _Ruleset(_READ_FILE | _EXECUTE | _REFER)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, ctypes.byref(rights), 8, 0))
    _allow(libc, ruleset, "/", _REFER)
    for path in beside(hidden):
        _allow(libc, ruleset, path, _READ_FILE | _EXECUTE)
    _checked(libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.syscall(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        # It went away, or was never to be reached by this user.
        return
    try:
        rule = _Beneath(rights, fd)
        _checked(libc.syscall(_ADD_RULE, ruleset, _PATH_BENEATH, ctypes.byref(rule), 0))
    finally:
        os.close(fd)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
