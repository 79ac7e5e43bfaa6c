"""Worker: the host's side of the jailed process of one run: its wire, its pipes, its end.

It is forked ahead of its script, and not bound to an event loop before it gets one.
"""

import asyncio
import os
import select
import socket
import sys
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from lineshaft.engines.cpython._linux import (
    hold_process,
    kill_held,
    receive,
    tell_senders,
)
from lineshaft.engines.cpython._wire import FROM_GUEST, HELLO, VERSION, Broken, Receiver

_GREETING_SECONDS = 3.0
_LAST_WORDS = 10_000


class Lost(Exception):
    """There is no such process, or not any more."""


class Unwell(Lost):
    """The parent did not make one in time."""


class Worker:
    """One process.

    Raises:
        OSError: There are no descriptors for it; none is left open.
    """

    def __init__(self) -> None:
        with ExitStack() as opened:
            self.wire, self._far_wire = socket.socketpair()
            opened.callback(self.wire.close)
            opened.callback(self._far_wire.close)
            self.stdout, self._far_stdout = _pipe(opened)
            self.stderr, self._far_stderr = _pipe(opened)
            self.wire.settimeout(0)
            if sys.platform != "win32":
                for fd in (self.stdout, self.stderr):
                    os.set_blocking(fd, False)
            tell_senders(self.wire, on=True)
            opened.pop_all()
        self.receiver = Receiver(FROM_GUEST)
        self.pid: int | None = None
        self.fault = ""
        """The reason why it could not get ready, where Lineshaft or the machine is at fault."""

        self._wake: Callable[[], object] = lambda: None
        self.pidfd: int | None = None
        self._closed = False

    @property
    def far_ends(self) -> tuple[int, int, int]:
        """The descriptors that the process gets."""
        return (self._far_wire.fileno(), self._far_stdout, self._far_stderr)

    def handed_over(self) -> None:
        """Close the far ends: they were sent."""
        self._far_wire.close()
        for fd in (self._far_stdout, self._far_stderr):
            os.close(fd)

    def peek(self) -> bool:
        """Return whether the process is there, and has greeted.

        Raises:
            Lost: It is gone, or cannot come.
        """
        if self.pid is None:
            with suppress(BlockingIOError):
                self._greeted(*receive(self.wire, 4096))
        elif self.is_over():
            raise Lost
        return self.pid is not None

    def _greeted(self, data: bytes, pid: int | None) -> None:
        try:
            said = list(self.receiver.receive(data))
        except Broken:
            said = []
        if said != [(HELLO, bytes([VERSION]))] or pid is None:
            with suppress(BlockingIOError):
                self.fault = os.read(self.stderr, _LAST_WORDS).decode(errors="replace").strip()
            raise Lost
        with suppress(OSError):  # it is gone, or there are no descriptors
            self.pidfd = hold_process(pid)
        self.pid = pid
        tell_senders(self.wire, on=False)
        self._wake()
        if self.pidfd is None:
            raise Lost

    async def ready(self) -> None:
        """Wait until the process is there.

        Raises:
            Lost: It will not be.
            Unwell: It is not, though its parent had time enough.
        """
        if self.peek():
            return
        loop = asyncio.get_running_loop()
        news = asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(
            news.set
        )  # the reader of the greeting gets the error
        loop.add_reader(self.wire.fileno(), news.set)
        try:
            async with asyncio.timeout(_GREETING_SECONDS):
                while not self.peek():
                    await news.wait()
                    news.clear()
        except TimeoutError:
            raise Unwell from None
        finally:
            self._wake = lambda: None
            loop.remove_reader(self.wire.fileno())

    def threads(self) -> int:
        """Return how many threads there are."""
        try:
            return len(os.listdir(f"/proc/{self.pid}/task"))  # noqa: PTH208  twice as slow
        except OSError:
            return 0

    def kill(self) -> None:
        """Kill the process, which has no children."""
        if self.pidfd is not None and not self._closed:
            with suppress(ProcessLookupError):
                kill_held(self.pidfd)

    def is_over(self) -> bool:
        """Return whether the process has ended."""
        return self.pidfd is None or bool(select.select([self.pidfd], [], [], 0)[0])

    def status(self) -> int | None:
        """Return how a process ended, exit code or minus a signal; None: that is forgotten."""
        with suppress(OSError, ValueError, IndexError):
            text = Path(f"/proc/{self.pid}/stat").read_text(errors="replace")
            # The name of the program stands in brackets and may hold anything.
            fields = text.rpartition(")")[2].split()
            if fields[0] == "Z":
                return os.waitstatus_to_exitcode(int(fields[49]))
        return None

    def close(self) -> None:
        """Give up the descriptors; a process that has no script yet ends by that."""
        if self._closed:
            return
        self._closed = True
        self.wire.close()
        for fd in (self.stdout, self.stderr, self.pidfd):
            if fd is not None:
                os.close(fd)


def _pipe(opened: ExitStack) -> tuple[int, int]:
    near, far = os.pipe()
    opened.callback(os.close, near)
    opened.callback(os.close, far)
    return near, far
