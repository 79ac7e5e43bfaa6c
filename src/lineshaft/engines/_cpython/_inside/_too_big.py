"""Refuse a single request for more memory than a script has, before anybody counts it.

`RLIMIT_AS` would refuse it too, but a boundary that counts the memory of a whole jail sees the
request first, and ends the process. The refusal is a `MemoryError`, as it should be.
"""

import ctypes
import os
import struct
from collections.abc import Mapping

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_LOAD, _EQUAL, _GREATER, _NOT_LESS, _RETURN = 0x20, 0x15, 0x25, 0x35, 0x06
_ALLOW, _NO_MEMORY, _ZERO = 0x7FFF0000, 0x0005000C, 0x00050000
_NUMBER, _ARCHITECTURE = 0, 4
_HALF = 32

_CALLS: Mapping[str, tuple[int, int, tuple[tuple[int, int], ...]]] = {
    "x86_64": (0xC000003E, 12, ((9, 24), (25, 32))),
    "aarch64": (0xC00000B7, 214, ((222, 24), (216, 32))),
}
"""Architecture; number of `brk`; numbers of `mmap` and `mremap`, and where the size stands."""

_Step = tuple[int, int, int, int]


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_char_p))


def refuse_requests_over(most: int, libc: ctypes.CDLL | None) -> None:
    """Let no call of this process ask for more than so many bytes; where such calls are known."""
    known = _CALLS.get(os.uname().machine)
    if known is None or libc is None:
        return
    architecture, brk, sized = known
    libc.sbrk.restype = ctypes.c_size_t
    # A refused `brk` must look like the kernel's own refusal: the old end, or nothing.
    steps = _unless(brk, 16, libc.sbrk(0) + most, _ZERO)
    for number, place in sized:
        steps += _unless(number, place, most, _NO_MEMORY)
    begin: list[_Step] = [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _ALLOW),
        (_LOAD, 0, 0, _NUMBER),
    ]
    code = [struct.pack("<HBBI", *step) for step in (*begin, *steps, (_RETURN, 0, 0, _ALLOW))]
    program = _Filter(len(code), b"".join(code))
    libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)


def _unless(number: int, place: int, most: int, refusal: int) -> list[_Step]:
    """Refuse one call whose argument is above a number; allow it otherwise."""
    high, low = most >> _HALF, most & 0xFFFFFFFF
    return [
        (_EQUAL, 0, 7, number),
        (_LOAD, 0, 0, place + 4),
        (_GREATER, 3, 0, high),
        (_NOT_LESS, 0, 3, high),
        (_LOAD, 0, 0, place),
        (_GREATER, 0, 1, low),
        (_RETURN, 0, 0, refusal),
        (_RETURN, 0, 0, _ALLOW),
    ]
