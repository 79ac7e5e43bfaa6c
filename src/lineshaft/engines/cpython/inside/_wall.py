"""The wall of one run: its process gives up, for good, all that its script does not need.

Above: `_forks.py`, which makes it once, and `_child.py`, which puts it up before it reads its
script. It stands inside the jail that all runs of a session share, and is what keeps one run from
the others and from the parent: a filter of system calls for each process (`_filter.py`) and, where
the kernel has Landlock, a domain of its own with nothing but files for reading in it.
"""

import ctypes
import signal
import struct
import sys
from collections.abc import Iterable

from lineshaft.engines.cpython.inside._filter import (
    MACHINES,
    Room,
    for_process,
    run_filter,
    size_filter,
)
from lineshaft.engines.cpython.inside._system import system as os

assert sys.platform == "linux"  # noqa: S101  it runs in a jail

_NO_NEW_PRIVILEGES, _SECCOMP, _FILTER = 38, 22, 2
_DEATH_SIGNAL, _DUMPABLE = 1, 4
_SECCOMP_CALL = {"x86_64": 317, "aarch64": 277}
_ALL_THREADS = 1
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION = 1
_BELOW_PATH = 1
_FILE_RIGHTS = ((1, 13), (2, 14), (3, 15), (5, 16))
"""Since which version of Landlock how many rights over files there are."""

_TCP_SINCE, _SCOPED_SINCE = 4, 6
_EXECUTE, _READ_FILE, _READ_FOLDER = 1 << 0, 1 << 2, 1 << 3
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


class NoWall(Exception):
    """The kernel does not hold a run; no script may begin."""


class Wall:
    """The rights that every run of a parent gives up.

    Args:
        readable: Files and folders that scripts may read.
        threads: Whether native code may start threads.

    Raises:
        NoWall: There is no filter for this machine.
    """

    def __init__(self, readable: Iterable[str], *, threads: bool) -> None:
        name = os.uname().machine
        if name not in MACHINES:
            raise NoWall(f"full Python runs on x86_64 and aarch64 only, not on {name!r}")
        self._machine = MACHINES[name]
        self._filter = run_filter(self._machine, threads=threads)
        self._call = _SECCOMP_CALL[name]
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.sbrk.restype = ctypes.c_size_t
        self._ruleset = self._make_ruleset(readable)
        # Without Landlock, this alone keeps a run from the memory of its parent.
        self._control(_DUMPABLE, 0)

    def die_with(self, parent: int) -> None:
        """Have this process killed when its parent ends.

        Args:
            parent: The parent's id.

        Raises:
            NoWall: It has ended already.
        """
        self._control(_DEATH_SIGNAL, signal.SIGKILL)
        if os.getppid() != parent:
            raise NoWall("the parent has ended")

    def put_up(self) -> None:
        """Stand behind it from now on, with all threads there are.

        Raises:
            NoWall: The kernel refuses.
        """
        self._control(_NO_NEW_PRIVILEGES, 1)
        if self._ruleset >= 0:
            if self._libc.syscall(_RESTRICT_SELF, self._ruleset, 0) != 0:
                raise NoWall(f"Landlock is refused: {os.strerror(ctypes.get_errno())}")
            os.close(self._ruleset)
        program, kept = _program(for_process(self._filter, os.getpid()))
        if self._libc.syscall(self._call, 1, _ALL_THREADS, ctypes.byref(program)) != 0:
            why = os.strerror(ctypes.get_errno())
            raise NoWall(f"the filter of system calls is refused: {why}")
        del kept

    def refuse_requests_over(self, most: int) -> None:
        """Let no call of this process ask for more than so many bytes at once."""
        room = Room(most=most, heap=self._libc.sbrk(0))
        program, kept = _program(size_filter(self._machine, room))
        self._control(_NO_NEW_PRIVILEGES, 1)
        self._libc.prctl(_SECCOMP, _FILTER, ctypes.byref(program), 0, 0)
        del kept

    def _control(self, option: int, value: int) -> None:
        self._libc.prctl(option, value, 0, 0, 0)

    def _make_ruleset(self, readable: Iterable[str]) -> int:
        """Return the rule set of a domain, or -1 where the kernel has none."""
        version = self._libc.syscall(_CREATE_RULESET, None, 0, _VERSION)
        if version < 1:
            return -1
        rights = max(count for since, count in _FILE_RIGHTS if since <= version)
        files = (1 << rights) - 1
        tcp = 3 if version >= _TCP_SINCE else 0
        scoped = 3 if version >= _SCOPED_SINCE else 0
        about = struct.pack("QQQ", files, tcp, scoped)
        ruleset = self._libc.syscall(_CREATE_RULESET, about, len(about), 0)
        if ruleset < 0:
            return -1
        for path in (*readable, *_DEVICES):
            self._let_read(ruleset, path)
        return ruleset

    def _let_read(self, ruleset: int, path: str) -> None:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:  # it is not there, or was never to be reached
            return
        folder = os.path.isdir(path)
        rights = _READ_FILE | _EXECUTE | (_READ_FOLDER if folder else 0)
        rule = struct.pack("=Qi", rights, place)
        self._libc.syscall(_ADD_RULE, ruleset, _BELOW_PATH, rule, 0)
        os.close(place)


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("code", ctypes.c_void_p))


def _program(text: bytes) -> tuple[_Program, object]:
    """Return a filter's address and length, and the object that must live as long as its use."""
    code = ctypes.create_string_buffer(text, len(text))
    return _Program(len(text) // 8, ctypes.addressof(code)), code
