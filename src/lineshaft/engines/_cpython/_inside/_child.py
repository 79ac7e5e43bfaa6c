"""A child of the warm parent: set up ahead, waits for its script, runs it, ends."""

import asyncio
import contextlib
import ctypes
import io
import os
import random
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lineshaft.engines._cpython._inside._channel import Channel
from lineshaft.engines._cpython._inside._parked import watch_loops
from lineshaft.engines._cpython._inside._script import Stage, finish, perform, run_anywhere
from lineshaft.engines._cpython._inside._taped import Taping
from lineshaft.engines._cpython._wire import VERSION

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_PREFIX = "lineshaft"
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD)
_DEATH_SIGNAL = 1


class Stdio:
    """The script's output: two pipes, and whether anything went into them."""

    def __init__(self) -> None:
        self.dirty = False
        self.out = self._stream(1)
        self.err = self._stream(2)
        sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  for good
        sys.stdout = sys.__stdout__ = self.out  # pyright: ignore[reportAttributeAccessIssue]  as ever
        sys.stderr = sys.__stderr__ = self.err  # pyright: ignore[reportAttributeAccessIssue]  as ever

    def _stream(self, fd: int) -> io.TextIOWrapper:
        raw = _Noted(fd, self)
        buffer = io.BufferedWriter(raw)
        return io.TextIOWrapper(buffer, "utf-8", "backslashreplace", line_buffering=True)

    def flush(self) -> bool:
        """Write out what is held back; return whether anything was printed since the last time."""
        for stream in (self.out, self.err):
            with contextlib.suppress(ValueError, OSError):  # the script closed it
                stream.flush()
        dirty, self.dirty = self.dirty, False
        return dirty


class _Noted(io.FileIO):
    """A descriptor that tells when it was written to."""

    def __init__(self, fd: int, stdio: Stdio) -> None:
        super().__init__(fd, "w", closefd=False)
        self._stdio = stdio

    def write(self, data: "ReadableBuffer", /) -> int:
        """Write some bytes."""
        self._stdio.dirty = True
        return super().write(data)


@dataclass(frozen=True, slots=True)
class Setting:
    """What a child gets beside its descriptors."""

    scratch: str | None
    """A folder to be made, for itself alone."""

    memory_mb: int
    """What its script will probably be given; 0: nobody knows."""

    libc: ctypes.CDLL | None
    """The C library, where there is one."""


def live(wire: int, streams: Sequence[int], setting: Setting) -> None:
    """Be the child: everything that does not need the script first, then the script."""
    _own_process(setting.libc)
    _own_descriptors(streams)
    if setting.scratch is not None:
        _own_folder(setting.scratch)
    stdio = Stdio()
    channel = Channel(wire, stdio.flush)
    watch_loops(channel.blocked, wire)
    asyncio.run = asyncio.runners.run = run_anywhere  # pyright: ignore[reportAttributeAccessIssue]  does the same
    stage = Stage(asyncio.new_event_loop(), setting.libc, setting.memory_mb)
    random.seed()
    numbers = sys.modules.get("numpy.random")
    if numbers is not None:
        numbers.seed()
    _forget_ourselves()
    channel.say({"type": "hello", "version": VERSION})
    taping = None
    if not channel.has_news():
        stage.rehearse()
        taping = Taping(channel)
        stage.rehearse_packages(channel.has_news)
    order = channel.order()
    os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    if order.tape is not None:
        (taping or Taping(channel)).begin(order.tape)
    result = perform(order, channel, stage)
    if not channel.is_cut:
        finish(channel, result)
        return
    stdio.flush()
    os._exit(0 if result["how"] == "returned" else 1)


def _own_process(libc: ctypes.CDLL | None) -> None:
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    for number in _SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    control(libc, _DEATH_SIGNAL, signal.SIGKILL)
    adopt(libc)


_SUBREAPER = 36


def adopt(libc: ctypes.CDLL | None) -> None:
    """Become the parent of all orphans among the descendants."""
    control(libc, _SUBREAPER, 1)


def control(libc: ctypes.CDLL | None, option: int, value: int) -> None:
    """Call `prctl`, where there is one."""
    if libc is not None:
        libc.prctl(option, value, 0, 0, 0)


def _own_descriptors(streams: Sequence[int]) -> None:
    ended, writing = os.pipe()
    os.close(writing)
    for target, fd in enumerate((ended, *streams)):
        os.dup2(fd, target)
        os.close(fd)


def _own_folder(scratch: str) -> None:
    with contextlib.suppress(OSError):
        os.mkdir(scratch, 0o700)  # noqa: PTH102  pathlib is not loaded here
        os.chdir(scratch)
        os.environ["TMPDIR"] = scratch


def _forget_ourselves() -> None:
    """Let the script import what it would find without us."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__name__ != "Shipped"]
    for name in [name for name in sys.modules if name.partition(".")[0] == _PREFIX]:
        del sys.modules[name]
