"""The warm parent: the first process in a jail, which forks a child for each script.

Above: `_warm.py` in the host, at the other end of the socket that is this process's standard
input. Below: `_child.py`. It has everything imported that scripts are promised to have at hand,
and never runs a script itself.

From the host, one JSON object a packet: `{"fork": number, "memory_mb": number}` with the four
descriptors of a child (its wire, stdout, stderr, and where this process tells of it), and
`{"bury": number}` once the host is done with its process id. On that last descriptor, one line
each: `pid N`, `failed ERRNO`, `ended STATUS`. The end of the socket means that the host is gone.
"""

import contextlib
import ctypes
import errno
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from lineshaft.engines._cpython._inside._child import Setting, adopt, live
from lineshaft.engines._cpython._inside._scope import MODULES

_PACKET = 65_536
_DESCRIPTORS = 4
_FAULT = 70
_SECOND_TRY = 0.05
Order = Mapping[str, object]


@dataclass(slots=True)
class Child:
    """A process that was forked and not yet buried."""

    pid: int
    teller: int
    """Where the host is told of it."""

    scratch: str | None
    ended: bool = False


class Parent:
    """Forks, and tells of the forked.

    Args:
        control: The socket to the host.
        libc: The C library, where there is one.
    """

    def __init__(self, control: socket.socket, libc: ctypes.CDLL | None) -> None:
        self._control = control
        self._libc = libc
        self._children: dict[int, Child] = {}
        self._scratch = os.environ.get("TMPDIR")
        self._wake, self._notify = os.pipe()
        for fd in (self._wake, self._notify):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(self._notify, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    def run(self) -> None:
        """Serve until the host is gone."""
        poll = select.poll()
        poll.register(self._control, select.POLLIN)
        poll.register(self._wake, select.POLLIN)
        while True:
            for fd, _ in poll.poll():
                if fd == self._wake:
                    os.read(fd, 4096)
                    self._look()
                elif not self._listen():
                    self._end()
                    return

    def _listen(self) -> bool:
        data, fds, _, _ = socket.recv_fds(
            self._control, _PACKET, _DESCRIPTORS, socket.MSG_CMSG_CLOEXEC
        )
        if not data:
            return False
        message = cast("Mapping[str, int]", json.loads(data))
        if "fork" in message:
            self._fork(message["fork"], fds, message["memory_mb"])
        else:
            self._bury(message["bury"])
        return True

    def _fork(self, number: int, fds: Sequence[int], memory_mb: int) -> None:
        *given, teller = fds
        scratch = f"{self._scratch}/run-{number}" if self._scratch else None
        try:
            pid = _fork_twice()
        except OSError as error:
            _tell(teller, f"failed {error.errno}")
            os.close(teller)
        else:
            if pid == 0:
                self._be_child(given, teller, Setting(scratch, memory_mb, self._libc))
            self._children[number] = Child(pid, teller, scratch)
            _tell(teller, f"pid {pid}")
        for fd in given:
            os.close(fd)

    def _be_child(self, given: Sequence[int], teller: int, setting: Setting) -> None:
        try:
            others = [child.teller for child in self._children.values()]
            for fd in (self._wake, self._notify, teller, *others):
                os.close(fd)
            self._control.detach()
            wire, *streams = given
            live(wire, streams, setting)
        except BaseException:  # noqa: BLE001  a fault of ours; nothing may return into the parent
            traceback.print_exc()
            os._exit(_FAULT)
        os._exit(0)

    def _look(self) -> None:
        """Tell of children that ended; they stay as they are, so that no other gets their id."""
        for child in self._children.values():
            if not child.ended:
                seen = os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if seen is not None:
                    child.ended = True
                    killed = seen.si_code != os.CLD_EXITED
                    _tell(child.teller, f"ended {-seen.si_status if killed else seen.si_status}")
        self._bury_adopted()

    def _bury(self, number: int) -> None:
        child = self._children.pop(number, None)
        if child is None:
            return
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            os.kill(child.pid, signal.SIGKILL)
            os.waitpid(child.pid, 0)
        os.close(child.teller)
        if child.scratch is not None:
            _remove(child.scratch)
        self._bury_adopted()

    def _bury_adopted(self) -> None:
        """Collect the dead that are nobody's, as far as those of the runs let them be seen."""
        own = {child.pid for child in self._children.values()}
        with contextlib.suppress(ChildProcessError):
            while seen := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
                if seen.si_pid in own:
                    return
                os.waitpid(seen.si_pid, 0)

    def _end(self) -> None:
        for child in self._children.values():
            with contextlib.suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)


def _fork_twice() -> int:
    """Fork; where there is no room, try once more when somebody may have ended."""
    try:
        return os.fork()
    except OSError as error:
        if error.errno != errno.EAGAIN:
            raise
        time.sleep(_SECOND_TRY)
        return os.fork()


def _tell(fd: int, line: str) -> None:
    with contextlib.suppress(OSError):
        os.write(fd, f"{line}\n".encode())


def _remove(folder: str) -> None:
    try:
        os.rmdir(folder)  # noqa: PTH106  pathlib is not loaded here
    except FileNotFoundError:
        return
    except OSError:
        for path, _, _ in os.walk(folder):
            with contextlib.suppress(OSError):
                os.chmod(path, 0o700)  # noqa: PTH101  as above
        import shutil  # noqa: PLC0415  costs every fork, and is hardly ever needed

        shutil.rmtree(folder, ignore_errors=True)


def _library() -> ctypes.CDLL | None:
    with contextlib.suppress(OSError):
        return ctypes.CDLL(None)
    return None


def serve(control: socket.socket, order: Order) -> None:
    """Get ready, say so, and serve."""
    with contextlib.suppress(OSError):
        os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    libc = _library()
    adopt(libc)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    sys.path.extend(cast("list[str]", order["path"]))
    name = ""
    try:
        for name in (*MODULES, *cast("list[str]", order["preload"])):
            importlib.import_module(name)
    except BaseException as error:  # noqa: BLE001  a module of the user's choice; told to the host
        control.sendall(f"failed {name}: {type(error).__name__}: {error}".encode())
        return
    parent = Parent(control, libc)
    for name in [name for name in os.environ if name != "TMPDIR"]:
        del os.environ[name]
    gc.collect()
    gc.freeze()
    control.sendall(b"ready")
    parent.run()
