"""Move this process to a root folder of its own that holds nothing but some chosen paths.

Above: `_warden.py`, for itself, before the inside starts. Landlock does not judge who looks at a
file's size or changes its mode, owner, times and attributes; here such files are not there at all,
or on a mount that is not to be written. Where the machine allows no mount namespace, `enter` says
so, and the warden forbids those calls instead.
"""

import contextlib
import ctypes
import os
import struct
from collections.abc import Callable, Iterable

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_BIND, _REC, _PRIVATE, _NOSUID, _NODEV = 0x1000, 0x4000, 0x40000, 0x2, 0x4
_DETACH, _RECURSIVE, _READ_ONLY = 2, 0x8000, 1
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442
_HERE = -100

Call = Callable[..., int]


def enter(readable: Iterable[str], writable: Iterable[str], *, work: str) -> bool:
    """Move to a root that holds some paths, under their own names.

    Args:
        readable: Files and folders; not to be written.
        writable: Files and folders; to be written.
        work: An empty folder to build the root on.

    Returns:
        Whether it was done; if not, nothing of note has changed.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None or not _unshare(libc):
        return False
    try:
        _build(libc, list(readable), list(writable), work)
    except OSError:
        return False
    os.chdir(work)
    _checked(libc.syscall(number, b".", b"."))
    _checked(libc.umount2(b".", _DETACH))
    _set_read_only(libc, "/", recursive=False)
    os.chdir("/")
    return True


def _build(libc: ctypes.CDLL, readable: list[str], writable: list[str], work: str) -> None:
    _mount(libc, None, "/", None, _REC | _PRIVATE, None)
    _mount(libc, "tmpfs", work, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    # A mount covers what was mounted below it before, so the shorter paths come first.
    for path in sorted({*readable, *writable, "/proc"}):
        place = work + path
        if _inside(path, readable, writable) and os.path.lexists(place):
            if path not in writable:
                continue
        else:
            _make_place(path, place)
        _mount(libc, path, place, None, _BIND | _REC, None)
        if path not in writable and path != "/proc":
            _set_read_only(libc, place, recursive=True)


def _inside(path: str, *groups: list[str]) -> bool:
    return any(path.startswith(other + "/") for group in groups for other in group)


def _make_place(path: str, place: str) -> None:
    if os.path.isdir(path):  # noqa: PTH112  pathlib is not imported here
        os.makedirs(place, exist_ok=True)  # noqa: PTH103  as above
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120  as above
    with contextlib.suppress(FileExistsError):
        os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o644))


def _unshare(libc: ctypes.CDLL) -> bool:
    """Leave the mount namespace; ordinary users need a user namespace for that."""
    if os.geteuid() == 0 and libc.unshare(_NEW_MOUNTS) == 0:
        return True
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(_NEW_USER | _NEW_MOUNTS) != 0:
        return False
    try:
        with open("/proc/self/setgroups", "w", encoding="ascii") as file:  # noqa: PTH123  as above
            file.write("deny")
        for name, number in (("uid_map", user), ("gid_map", group)):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  as above
                file.write(f"{number} {number} 1")
    except OSError:
        return False
    return True


def _mount(
    libc: ctypes.CDLL,
    source: str | None,
    target: str,
    kind: str | None,
    flags: int,
    data: str | None,
) -> None:
    words = [None if word is None else word.encode() for word in (source, target, kind, data)]
    _checked(libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]))


def _set_read_only(libc: ctypes.CDLL, place: str, *, recursive: bool) -> None:
    about = struct.pack("QQQQ", _READ_ONLY, 0, 0, 0)
    flags = _RECURSIVE if recursive else 0
    _checked(libc.syscall(_MOUNT_SETATTR, _HERE, place.encode(), flags, about, len(about)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
