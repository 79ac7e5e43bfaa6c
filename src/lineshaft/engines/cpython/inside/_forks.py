"""The parent: the first process in a jail, which forks a process for each run.

Above: `_fork_server.py` in the host, at the other end of the socket that is this process's standard
input. Below: `_child.py`. It imports all modules that scripts are promised, and never runs a script
itself.

From the host come two packets for each process: a byte here, and on the socket for orders, which
the forked process reads, its descriptors: the wire, stdout and stderr. The end of the socket means
that the host is gone.
"""

import contextlib
import gc
import importlib
import signal
import socket
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from typing import Protocol, cast

from lineshaft.engines.cpython.inside import _child, _wall
from lineshaft.engines.cpython.inside._clocks import ProcessClocks
from lineshaft.engines.cpython.inside._entropy import Entropy
from lineshaft.engines.cpython.inside._rehearsal import rehearse_packages
from lineshaft.engines.cpython.inside._standins import Standins
from lineshaft.engines.cpython.inside._system import exit_now
from lineshaft.engines.cpython.inside._system import system as os

assert sys.platform == "linux"  # noqa: S101  it runs in a jail

DESCRIPTORS = 3
_FAULT = 70
_STDERR = 2
_PREFIXES = ("lineshaft", "_lineshaft")
_ENVIRONMENT = {"HOME": "/", "TZ": "UTC"}
"""Of scripts, as in every engine."""

Order = Mapping[str, object]


class _ForkedChild(Protocol):
    """The guest's way in."""

    def prepare(self, platform: object) -> None: ...
    def run(self, order: str, wire: object) -> str: ...


class Parent:
    """Forks without keeping a trace: every process begins with the same memory.

    Args:
        bell: The socket on which the host asks for a process.
        orders: The socket on which its descriptors come.
        setting: The settings of every process.
    """

    def __init__(self, bell: int, orders: socket.socket, setting: _child.ChildSetting) -> None:
        self._bell = bell
        self._orders = orders
        self._setting = setting
        self._pid = os.getpid()

    def run(self) -> None:
        """Serve until the host is gone."""
        while os.read(self._bell, 1):
            self._collect()
            try:
                child = os.fork() == 0
            except OSError:
                self._refuse()
            else:
                if child:
                    self._be_child()

    def _be_child(self) -> None:
        try:
            _child.live(self._given(), self._pid, self._setting)
        except BaseException:  # noqa: BLE001  a fault of Lineshaft; the child must not return into the parent
            _say(traceback.format_exc())
            exit_now(_FAULT)
        exit_now(0)

    def _refuse(self) -> None:
        """Close the descriptors for a process; the host sees it."""
        for fd in self._given():
            os.close(fd)

    def _given(self) -> Sequence[int]:
        _, given, _, _ = socket.recv_fds(self._orders, 16, DESCRIPTORS, socket.MSG_CMSG_CLOEXEC)
        return given

    def _collect(self) -> None:
        """Collect processes that ended; until now the host could see how."""
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                continue


def _say(text: str) -> None:
    """Print past Python, whose own printing is the guest's."""
    with contextlib.suppress(OSError):
        os.write(_STDERR, text.encode())


def serve(control: socket.socket, orders: socket.socket, order: Order) -> None:
    """Get ready, say so, and serve."""
    with contextlib.suppress(OSError):
        os.setsid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
    path = cast("list[str]", order["path"])
    readable = [*cast("list[str]", order["readable"]), *_scratch()]
    sys.path.extend(path)
    name = "Landlock and seccomp"
    try:
        wall = _wall.Wall(readable, threads=bool(order["threads"]))
        for name in cast("list[str]", order["preload"]):
            importlib.import_module(name)
    except (_wall.NoWall, Exception, SystemExit) as error:  # noqa: BLE001  a module of the user's choice; reported to the host
        control.sendall(f"failed {name}: {type(error).__name__}: {error}".encode())
        return
    rehearse_packages()
    for name in list(os.environ):
        del os.environ[name]
    os.environ.update(_ENVIRONMENT)
    time.tzset()
    guest, clocks, entropy = _guest(readable)
    guest(_child.REHEARSAL, None)
    _forget_ourselves()
    gc.collect()
    gc.freeze()
    try:
        parent = Parent(control.fileno(), orders, _child.ChildSetting(wall, guest, clocks, entropy))
        control.sendall(b"ready")
        parent.run()
    except BaseException:
        _say(traceback.format_exc())
        raise


def _guest(readable: Sequence[str]) -> tuple[_child.Guest, ProcessClocks, Entropy]:
    """Return the guest, with its clocks and entropy in place before it looks for them."""
    standins = Standins()
    clocks = ProcessClocks()
    entropy = Entropy()
    clocks.stand_in(standins)
    entropy.stand_in(standins)
    standins.step_in()
    entry = cast("_ForkedChild", importlib.import_module("_lineshaft.entry"))
    platform = importlib.import_module("_lineshaft.platform").Platform
    entry.prepare(platform(is_wasm=False, readable=tuple(readable), relax=_child.relax))
    return entry.run, clocks, entropy


def _scratch() -> list[str]:
    """Return the jail's private folder: modules that are imported ahead may keep files there."""
    folder = os.environ.get("TMPDIR")
    return [] if folder is None else [folder]


def _forget_ourselves() -> None:
    """Let scripts import the modules that they would find without Lineshaft."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "Shipped"]
    for name in [name for name in sys.modules if name.partition(".")[0] in _PREFIXES]:
        del sys.modules[name]
