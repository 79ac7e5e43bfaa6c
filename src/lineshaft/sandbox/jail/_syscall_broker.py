"""Broker of one sandlock jail: the process that answers the system calls of the inside.

Above: `_supervisor.py`, which forked it. Below: the threads of sandlock and the inside. It
gives up all capabilities before the inside starts. If the supervisor is killed, it ends the inside
itself.
"""

import contextlib
import ctypes
import errno
import importlib
import os
import select
import signal
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

assert sys.platform == "linux"  # noqa: S101  it holds a jail

_BOUNDING_DROP = 24
_SECUREBITS = 28
_NOROOT_LOCKED = 0b11
_CAPABILITY_V3 = 0x20080522
_LAST_CAPABILITY = 63
_NO_NEW_PRIVS, _SECCOMP, _FILTER_MODE = 38, 22, 2
_INSTRUCTION = 8
_METADATA_CALLS = [
    *("chmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchownat", "utime", "utimes"),
    *("futimesat", "utimensat", "setxattr", "lsetxattr", "removexattr", "lremovexattr"),
]
"""Forbidden where files outside are visible: Landlock lets their owner change attributes."""


class _Supervisor(Protocol):
    def adopt_orphans(self) -> None: ...
    def descendants(self) -> set[int]: ...
    def end_all(self, *, spare: int = 0) -> None: ...
    def set_limits(self, limits: Mapping[str, int], pid: int = 0) -> None: ...


class _Process(Protocol):
    pid: int

    def wait(self) -> object: ...


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Filter(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("program", ctypes.c_void_p))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


def give_up_capabilities() -> None:
    """Drop every capability, for good, of this process and its descendants."""
    libc = ctypes.CDLL(None, use_errno=True)
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
        for number in range(_LAST_CAPABILITY + 1):
            if libc.prctl(_BOUNDING_DROP, number, 0, 0, 0) != 0:
                break
        libc.prctl(_SECUREBITS, _NOROOT_LOCKED, 0, 0, 0)
    header = _Header(_CAPABILITY_V3, 0)
    if libc.capset(ctypes.byref(header), (_Sets * 2)()) != 0:
        raise OSError(ctypes.get_errno(), "capabilities cannot be given up")


def forbid(program: bytes) -> None:
    """Apply a filter of system calls to this thread and to what it starts."""
    libc = ctypes.CDLL(None, use_errno=True)
    code = ctypes.create_string_buffer(program, len(program))
    whole = _Filter(len(program) // _INSTRUCTION, ctypes.addressof(code))
    libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(_SECCOMP, _FILTER_MODE, ctypes.byref(whole), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls is refused")


def watch(supervisor: _Supervisor, parent: int, main: int, wake: int) -> None:
    """Reap adopted orphans; end everything if the supervisor dies. Runs in a thread."""
    poll = select.poll()
    poll.register(parent, select.POLLIN)
    poll.register(wake, select.POLLIN)
    while True:
        for fd, _ in poll.poll():
            if fd == parent:
                supervisor.end_all()
                os._exit(1)
            os.read(fd, 4096)
        for pid in dead_children() - {main}:
            with contextlib.suppress(OSError):
                os.waitpid(pid, os.WNOHANG)


def dead_children() -> set[int]:
    """Return children that ended and were not collected."""
    found: set[int] = set()
    for task in os.listdir("/proc/self/task"):  # noqa: PTH208  pathlib costs more than this
        with contextlib.suppress(OSError), open(f"/proc/self/task/{task}/children") as file:  # noqa: PTH123  as above
            found.update(int(pid) for pid in file.read().split())
    return {pid for pid in found if _dead(pid)}


def _dead(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  as above
            return file.read().rpartition(b")")[2].split()[0] == b"Z"
    except OSError:
        return False


def hold(order: Mapping[str, object], stdio: Sequence[int], reporting: int) -> None:
    """Put up the boundary, start the inside, and stay until it has ended."""
    supervisor = cast("_Supervisor", sys.modules["__main__"])
    parent = os.pidfd_open(os.getppid())
    supervisor.adopt_orphans()
    sandlock = __import__("sandlock")
    options = dict(cast("dict[str, object]", order["sandbox"]))
    plan = cast("dict[str, object]", order["plan"])
    accountant = None if plan["upper"] is None else Accountant(plan)
    entered = bool(importlib.import_module("_newroot").enter(plan))
    if accountant is not None:
        accountant.start()
    if not entered:
        if plan["apart"] is not None:
            raise OSError(errno.EPERM, "a folder is kept apart only where mounts are allowed")
        denied = cast("list[str]", options["extra_deny_syscalls"])
        options["extra_deny_syscalls"] = [*denied, *_METADATA_CALLS]
        options["fs_denied"] = plan["hidden"]
    sandbox = sandlock.Sandbox(**options)
    give_up_capabilities()
    if not entered and order["beside"]:
        importlib.import_module("_landlock").hide(cast("list[str]", order["beside"]))
    forbid(bytes.fromhex(cast("str", order["filter"])))
    for target, fd in enumerate(stdio):
        os.dup2(fd, target)
    process = cast("_Process", sandbox.popen(order["argv"]))
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1, 2, *stdio):
        # The reader of the other end waits for the last holder, which must be the inside.
        os.dup2(null, fd)
    os.write(reporting, f"started {process.pid}\n".encode())
    wake, notify = os.pipe()
    os.set_blocking(notify, False)
    signal.set_wakeup_fd(notify, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    threading.Thread(
        target=watch, args=(supervisor, parent, process.pid, wake), daemon=True
    ).start()
    result = process.wait()
    if accountant is not None:
        supervisor.end_all(spare=accountant.pid)
        accountant.finish()
    os.write(reporting, f"exited {code_of(result)}\n".encode())


class Accountant:
    """A process that keeps its rights, to report the changes to the folder at the end."""

    def __init__(self, plan: Mapping[str, object]) -> None:
        self._apart = cast("str", plan["apart"])
        scratch = os.path.dirname(cast("str", plan["upper"]))  # noqa: PTH120  as above
        self._account = importlib.import_module("_account").Account(self._apart, scratch)
        self.pid = 0
        self._order = self._answer = -1

    def start(self) -> None:
        """Fork; the child waits until it is told to report, or until no order can come."""
        order, self._order = os.pipe()
        self._answer, answer = os.pipe()
        self.pid = os.fork()
        if self.pid:
            os.close(order)
            os.close(answer)
            return
        try:
            self._account.see(self._apart)
            keep = self._account.descriptors() | {0, 1, 2, order, answer}
            for name in os.listdir("/proc/self/fd"):  # noqa: PTH208  as above
                if int(name) not in keep:
                    with contextlib.suppress(OSError):
                        os.close(int(name))
            if os.read(order, 1):
                self._account.write()
                os.write(answer, b"1")
        finally:
            os._exit(0)

    def finish(self) -> None:
        """Tell the supervisor to look, and wait until it has."""
        os.write(self._order, b"1")
        os.read(self._answer, 1)


def code_of(result: object) -> int:
    """Return an exit code, or minus a signal's number."""
    code, number = (cast("int", getattr(result, name, -1)) for name in ("exit_code", "signal"))
    if number > 0:
        return -number
    return -signal.SIGKILL if code < 0 else code
