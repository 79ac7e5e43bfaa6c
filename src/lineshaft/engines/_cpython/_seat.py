"""One child of a warm parent, as the host holds it: its wire, its pipes, its process.

A child is forked ahead of its script, and not bound to an event loop before it gets one.
"""

import asyncio
import os
import signal
import socket
import struct
from collections.abc import Callable
from contextlib import suppress

from lineshaft.engines._cpython._tree import is_alone, kill_group
from lineshaft.engines._cpython._wire import VERSION, Hello, Receiver, from_engine

_GREETING_SECONDS = 10.0
_CREDENTIALS = struct.Struct("3i")


class Lost(Exception):
    """There is no such child, or not any more."""


class Seat:
    """One child.

    Args:
        number: What its parent knows it by.
    """

    def __init__(self, number: int) -> None:
        self.number = number
        self.wire, self._far_wire = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.stdout, self._far_stdout = os.pipe()
        self.stderr, self._far_stderr = os.pipe()
        self.news, self._far_news = os.pipe()
        self.wire.settimeout(0)
        for fd in (self.stdout, self.stderr, self.news):
            os.set_blocking(fd, False)
        # The kernel says who is at the other end, whatever namespace it lives in.
        self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
        self.receiver: Receiver = from_engine()
        self.pid: int | None = None
        self.inner_pid: int | None = None
        """As its parent sees it."""

        self.status: int | None = None
        """How it ended: exit code, or minus a signal."""

        self.orphaned = False
        """Its parent is gone, or could not fork it."""

        self.ended = False
        """It was killed, and is dead or about to be."""

        self._wake: Callable[[], object] = lambda: None
        self._pidfd: int | None = None
        self._pending = b""
        self._closed = False

    @property
    def far_ends(self) -> tuple[int, int, int, int]:
        """What the child and its parent get."""
        return (self._far_wire.fileno(), self._far_stdout, self._far_stderr, self._far_news)

    def handed_over(self) -> None:
        """Close the far ends: they were sent."""
        self._far_wire.close()
        for fd in (self._far_stdout, self._far_stderr, self._far_news):
            os.close(fd)

    def read_news(self) -> None:
        """Take what the parent tells."""
        with suppress(BlockingIOError):
            while data := os.read(self.news, 4096):
                self._pending += data
            self.orphaned = True
        *lines, self._pending = self._pending.split(b"\n")
        for line in lines:
            word, _, number = line.decode().partition(" ")
            if word == "pid":
                self.inner_pid = int(number)
            elif word == "ended":
                self.status = int(number)
            else:
                self.orphaned = True

    def peek(self) -> bool:
        """Return whether the child is there, and has said so.

        Raises:
            Lost: It is not, and will not be.
        """
        self.read_news()
        if self.orphaned or self.status is not None:
            raise Lost
        if self.pid is None:
            with suppress(BlockingIOError):
                self._greeted(*self.wire.recvmsg(4096, socket.CMSG_SPACE(_CREDENTIALS.size))[:2])
        return self.pid is not None

    def _greeted(self, data: bytes, about: "list[tuple[int, int, bytes]]") -> None:
        events = self.receiver.receive(data)
        known = [told for _, kind, told in about if kind == socket.SCM_CREDENTIALS]
        if events != [Hello(VERSION)] or not known:
            raise Lost
        pid = _CREDENTIALS.unpack(known[0][: _CREDENTIALS.size])[0]
        with suppress(ProcessLookupError):
            self._pidfd = os.pidfd_open(pid)
        self.pid = pid
        self.wire.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
        self._wake()
        if self._pidfd is None:
            raise Lost

    async def ready(self) -> None:
        """Wait until the child is there.

        Raises:
            Lost: It will not be.
        """
        if self.peek():
            return
        loop = asyncio.get_running_loop()
        news = asyncio.Event()
        self._wake = lambda: loop.call_soon_threadsafe(news.set)  # whoever reads the greeting
        for fd in (self.wire.fileno(), self.news):
            loop.add_reader(fd, news.set)
        try:
            async with asyncio.timeout(_GREETING_SECONDS):
                while not self.peek():
                    await news.wait()
                    news.clear()
        except TimeoutError:
            raise Lost from None
        finally:
            self._wake = lambda: None
            for fd in (self.wire.fileno(), self.news):
                loop.remove_reader(fd)

    def kill(self) -> None:
        """Kill the child and its group."""
        if self.pid is not None and self._pidfd is not None and not self._closed:
            kill_group(self.pid)
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._pidfd, signal.SIGKILL)

    def is_alone(self) -> bool:
        """Return whether a child that was killed leaves nobody behind; False where unsure."""
        return self.pid is not None and is_alone(self.pid)

    async def dead(self) -> None:
        """Wait until the child has ended."""
        if self._pidfd is None:
            return
        loop = asyncio.get_running_loop()
        over = asyncio.Event()
        loop.add_reader(self._pidfd, over.set)
        try:
            await over.wait()
        finally:
            loop.remove_reader(self._pidfd)

    def close(self) -> None:
        """Give up the descriptors; a child that has no script yet ends by that."""
        if self._closed:
            return
        self._closed = True
        self.wire.close()
        for fd in (self.stdout, self.stderr, self.news, self._pidfd):
            if fd is not None:
                os.close(fd)
