"""Move this process to a root folder of its own that holds nothing but some chosen paths.

Above: `_syscall_broker.py`, for itself, before the inside starts. Landlock does not control
    reading a file's size or changing its mode, owner, times and attributes; under the new root such
    files do not exist, or are on a read-only mount. A folder kept apart is an overlay: the kernel
    redirects writes to it. Where the machine allows no mount namespace, `enter` says so, and the
    broker forbids those calls instead.
"""

import contextlib
import ctypes
import os
import struct
import sys
from collections.abc import Mapping, Sequence
from typing import cast

assert sys.platform == "linux"  # noqa: S101  a part of the broker

_NEW_USER, _NEW_MOUNTS = 0x10000000, 0x00020000
_BIND, _REC, _PRIVATE, _NOSUID, _NODEV = 0x1000, 0x4000, 0x40000, 0x2, 0x4
_DETACH, _RECURSIVE, _READ_ONLY = 2, 0x8000, 1
_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}
_MOUNT_SETATTR = 442
_HERE = -100
_LIBC = ctypes.CDLL(None, use_errno=True)

Plan = Mapping[str, object]


class NoOverlay(Exception):
    """This machine cannot keep the folder apart by an overlay."""


def enter(plan: Plan) -> bool:
    """Move to a root that holds some paths, under their own names.

    Args:
        plan: The paths: `readable`, `writable`, and below them `hidden` and `readonly`;
            `apart`, a folder; for it either `upper` and `spare`, two empty folders, and `mounted`,
            the mount points in it, or a `copy`;
            `work`, an empty folder to build the root on, and `nothing`, an empty file.

    Returns:
        Whether it was done; if not, nothing relevant has changed.

    Raises:
        NoOverlay: The folder cannot be kept apart so.
    """
    number = _PIVOT_ROOT.get(os.uname().machine)
    if number is None or not _unshare():
        return False
    work = cast("str", plan["work"])
    try:
        _build(plan, work)
        os.chdir(work)
        _checked(_LIBC.syscall(number, b".", b"."))
        _checked(_LIBC.umount2(b".", _DETACH))
        _set_read_only("/", recursive=False)
    except OSError:
        return False
    os.chdir("/")
    return True


def _build(plan: Plan, work: str) -> None:
    readable, writable = _paths(plan, "readable"), _paths(plan, "writable")
    apart = cast("str", plan["apart"] or "")
    _mount(None, "/", None, _REC | _PRIVATE)
    _mount("tmpfs", work, "tmpfs", _NOSUID | _NODEV, "size=1m,mode=755")
    # A mount covers what was mounted below it before, so the shorter paths come first.
    for path in sorted({"/proc", apart, *readable, *writable} - {""}):
        place = work + path
        above = any(path.startswith(f"{other}/") for other in (*readable, *writable))
        if not (above and os.path.lexists(place)):
            _make_place(path, place)
        elif path not in writable and path != apart:
            continue
        if path == apart:
            _keep_apart(plan, path, place)
            continue
        _mount(path, place, None, _BIND | _REC)
        if path not in writable and path != "/proc":
            _set_read_only(place, recursive=True)
    for path in _paths(plan, "hidden"):
        _hide(work + path, cast("str", plan["nothing"]))
    for path in _paths(plan, "readonly"):
        if os.path.lexists(work + path) and not os.path.islink(work + path):  # noqa: PTH114  pathlib is not imported here
            _mount(work + path, work + path, None, _BIND | _REC)
            _set_read_only(work + path, recursive=True)


def _keep_apart(plan: Plan, path: str, place: str) -> None:
    copy = cast("str | None", plan["copy"])
    if copy is not None:
        _mount(copy, place, None, _BIND)
        return
    # Through a descriptor: commas and colons of the path would be taken for more options.
    lower = os.open(path, os.O_PATH | os.O_DIRECTORY)
    whose = "redirect_dir=on,metacopy=off" if os.geteuid() == 0 else "userxattr"
    words = f"lowerdir=/proc/self/fd/{lower},upperdir={plan['upper']},workdir={plan['spare']}"
    try:
        _mount("overlay", place, "overlay", 0, f"{words},volatile,index=off,xino=off,{whose}")
        for inner in _paths(plan, "mounted"):  # the lower layer has what lies under them
            there = place + inner.removeprefix(path)
            _mount(inner, there, None, _BIND | _REC)
            _set_read_only(there, recursive=True)
    except OSError as error:
        raise NoOverlay(str(error)) from error
    finally:
        os.close(lower)


def _hide(place: str, nothing: str) -> None:
    if os.path.islink(place) or not os.path.lexists(place):  # noqa: PTH114  as above
        return
    if os.path.isdir(place):  # noqa: PTH112  as above
        _mount("tmpfs", place, "tmpfs", _NOSUID | _NODEV, "size=4k,mode=000")
    else:
        _mount(nothing, place, None, _BIND)
    _set_read_only(place, recursive=False)


def _paths(plan: Plan, name: str) -> Sequence[str]:
    return cast("list[str]", plan[name])


def _make_place(path: str, place: str) -> None:
    if os.path.isdir(path):  # noqa: PTH112  as above
        os.makedirs(place, exist_ok=True)  # noqa: PTH103  as above
        return
    os.makedirs(os.path.dirname(place), exist_ok=True)  # noqa: PTH103, PTH120  as above
    with contextlib.suppress(FileExistsError):
        os.close(os.open(place, os.O_CREAT | os.O_EXCL, 0o644))


def _unshare() -> bool:
    """Leave the mount namespace; ordinary users need a user namespace for that."""
    if os.geteuid() == 0 and _LIBC.unshare(_NEW_MOUNTS) == 0:
        return True
    user, group = os.geteuid(), os.getegid()
    if _LIBC.unshare(_NEW_USER | _NEW_MOUNTS) != 0:
        return False
    try:
        for name, text in (
            ("setgroups", "deny"),
            ("uid_map", f"{user} {user} 1"),
            ("gid_map", f"{group} {group} 1"),
        ):
            with open(f"/proc/self/{name}", "w", encoding="ascii") as file:  # noqa: PTH123  as above
                file.write(text)
    except OSError:
        return False
    return True


def _mount(
    source: str | None, target: str, kind: str | None, flags: int, data: str | None = None
) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, data)]
    _checked(_LIBC.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]))


def _set_read_only(place: str, *, recursive: bool) -> None:
    about = struct.pack("QQQQ", _READ_ONLY, 0, 0, 0)
    flags = _RECURSIVE if recursive else 0
    _checked(_LIBC.syscall(_MOUNT_SETATTR, _HERE, os.fsencode(place), flags, about, len(about)))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
