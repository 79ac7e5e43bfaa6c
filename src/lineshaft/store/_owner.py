"""The process that works on a run, and the proof of its death."""

import os
import sys
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from lineshaft.values import Struct

_PROC = Path("/proc")


class Owner(Struct, frozen=True):
    """A process, distinguished from later ones with the same number."""

    pid: int
    mark: str = ""
    """Boot, PID namespace and start time; empty where the system does not give them."""

    @property
    def is_here(self) -> bool:
        """Whether it is known to live, so that its number means it to this process."""
        own = this_process()
        if not self.mark and not own.mark:
            return _is_there(self.pid)
        return bool(self.mark) and _mark(self.pid) == self.mark

    @property
    def has_died(self) -> bool:
        """Whether the process is known to be gone.

        Only a process of this boot and this PID namespace can be checked: the state of one on
        another machine or in another container is not known.
        """
        own = this_process()
        if not self.mark and not own.mark:
            return not _is_there(self.pid)
        if not self.mark or not own.mark:
            return False
        here = self.mark.rpartition("/")[0] == own.mark.rpartition("/")[0]
        return here and _mark(self.pid) != self.mark


def this_process() -> Owner:
    """Return the process that asks."""
    return _process(os.getpid())


@lru_cache(maxsize=4)
def _process(pid: int) -> Owner:
    return Owner(pid, _mark(pid))


@lru_cache(maxsize=4)
def _here(pid: int) -> str:
    """Return boot and PID namespace of this process."""
    del pid  # another one after a fork
    boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    space = os.readlink("/proc/self/ns/pid")  # noqa: PTH115  a text, not a path
    return f"{boot}/{space}"


def _mark(pid: int) -> str:
    """Return the mark of a living process; empty where there is none, or no /proc."""
    with suppress(OSError, IndexError, UnicodeDecodeError):
        # The name of the program is in brackets and may hold anything.
        words = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        if words[0] not in ("Z", "X"):
            return f"{_here(os.getpid())}/{words[19]}"
    return ""


def _is_there(pid: int) -> bool:
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415  only here

        handle = ctypes.windll.kernel32.OpenProcess(0x1000, 0, pid)
        if handle:
            ctypes.windll.kernel32.CloseHandle(handle)
        return bool(handle)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
