"""A running process tree, seen from the host.

Above: workspaces. Below: `_supervisor.py`, a process of its own, over a socket. All work happens in
    callbacks of the event loop, not in tasks: a process is started in one place and awaited in
    another, so no task group could own a reader. Yet no process is left behind: its time runs out
    by itself, and when the event loop or the host ends, so does the socket, and the supervisor ends
    the tree.
"""

import asyncio
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable
from io import FileIO

import anyio

from lineshaft.processes._capture import Capture
from lineshaft.processes._lines import LineQueue, Splitter
from lineshaft.processes._stray import end_marked
from lineshaft.values import Command, Exit, Line, SecretFinder, Stream

GRACE_SECONDS = 2.0
"""Between SIGTERM and SIGKILL."""

DRAIN_SECONDS = 1.0
"""For output that still comes after the end."""

_LOOK_SECONDS = 0.001
"""Between two looks whether a supervisor that has said its last word has ended."""

_CHUNK = 65_536


class _CapturedStream:
    """One stream: its descriptor, and its output so far."""

    def __init__(self, stream: Stream, file: FileIO, limit: int, *, secrets: SecretFinder) -> None:
        self.file = file
        self.capture = Capture(limit, secrets=secrets)
        self.splitter = Splitter(stream, secrets=secrets)
        self.open = True
        self.watched = False


class Running:
    """A command that was started, and its process tree.

    Args:
        command: The command.
        mark: The mark in its environment, to find it if the supervisor is killed.
        supervisor: The process that watches it.
        control: The socket to the supervisor.
        stdout: The host's end of its output.
        stderr: The host's end of its other output.
        secrets: What is not cut in two where its output is.
    """

    def __init__(
        self,
        command: Command,
        *,
        mark: str,
        supervisor: "subprocess.Popen[bytes]",
        control: socket.socket,
        stdout: FileIO,
        stderr: FileIO,
        secrets: SecretFinder,
    ) -> None:
        self.start_errno: int | None = None
        """The reason why the command could not be started; None where it was."""

        self.settled = anyio.Event()
        """Set once it is known whether the command was started."""

        self._mark = mark
        self._supervisor = supervisor
        self._control = control
        self._pipes = (
            _CapturedStream("stdout", stdout, command.stdout_bytes, secrets=secrets),
            _CapturedStream("stderr", stderr, command.stderr_bytes, secrets=secrets),
        )
        self._loop = asyncio.get_running_loop()
        self._timers: list[asyncio.TimerHandle] = []
        self._inbox = b""
        self._queue: LineQueue | None = LineQueue()
        self._lines_wanted = False
        self._news = anyio.Event()
        self._done = anyio.Event()
        self._began = time.monotonic()
        self._ended: float | None = None
        self._exit_code: int | None = None
        self._empty = False
        self._gone = False
        self._ending = False
        self._finished = False
        self._timed_out = False
        self._loop.add_reader(control, self._hear)
        self._later(command.seconds, self._expire)

    def lines(self) -> AsyncIterator[Line]:
        """Return its lines as they come; call it before `wait`, or lines are missed.

        A process waits where its lines are not taken. Lines over 65,536 characters come in pieces.
        """
        self._lines_wanted = True
        if self._queue is None:
            self._queue = LineQueue()
        self._watch()
        return self._take_lines(self._queue)

    async def wait(self) -> Exit:
        """Wait for the end; on cancellation the whole tree is ended first."""
        if not self._lines_wanted:
            self._queue = None
        self._watch()
        await self._or_end(self._done)
        return self._exit()

    async def kill(self) -> None:
        """End the whole tree: SIGTERM, 2 s, SIGKILL; the drain takes 1 s at most."""
        self._end()
        await self._done.wait()

    async def _take_lines(self, queue: LineQueue) -> AsyncIterator[Line]:
        try:
            while True:
                while line := queue.take():
                    yield line
                if not any(pipe.open for pipe in self._pipes):
                    return
                self._watch()
                self._news = anyio.Event()
                await self._or_end(self._news)
        finally:
            self._queue = None
            self._watch()

    async def _or_end(self, event: anyio.Event) -> None:
        """Wait for an event; cancellation of the wait ends the tree."""
        try:
            await event.wait()
        except BaseException:
            with anyio.CancelScope(shield=True):
                await self.kill()
            raise

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        self._timers.append(self._loop.call_later(seconds, act))

    def _hear(self) -> None:
        """Take the supervisor's messages."""
        try:
            data = self._control.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        *lines, self._inbox = (self._inbox + data).split(b"\n")
        for line in lines:
            word, _, number = line.decode().partition(" ")
            self._heard(word, int(number or 0))
        if not data:
            self._loop.remove_reader(self._control)
            if not self._empty and self.start_errno is None:
                # The supervisor was killed; its orphans can still be recognised by their mark.
                end_marked(self._mark)
            self._gone = True
            self._later(DRAIN_SECONDS, self._finish)
        self._settle()

    def _heard(self, word: str, number: int) -> None:
        match word:
            case "started":
                self.settled.set()
            case "failed":
                self.start_errno = number
                self._empty = True
            case "exited":
                self._exit_code, self._ended = number, time.monotonic()
                self._later(DRAIN_SECONDS, self._end)
            case _:
                self._empty = True

    def _expire(self) -> None:
        if self._exit_code is None:
            self._timed_out = True
            self._end()

    def _end(self) -> None:
        """Order the end of the tree, once."""
        if self._ending or self._finished:
            return
        self._ending = True
        self._tell(f"end {GRACE_SECONDS}\n")
        self._later(GRACE_SECONDS + DRAIN_SECONDS, self._finish)
        self._watch()

    def _tell(self, order: str) -> None:
        try:
            self._control.send(order.encode())
        except OSError:
            return  # the supervisor is gone, which the reader of the socket deals with

    def _watch(self) -> None:
        """Read from the pipes, unless the process is to wait for the reader of its lines."""
        over = self._ending or self._gone or self._exit_code is not None
        read = over or self._queue is None or not self._queue.full
        for pipe in self._pipes:
            if pipe.open and read and not pipe.watched:
                pipe.watched = True
                self._loop.add_reader(pipe.file, self._read, pipe)
            elif pipe.watched and not read:
                self._unwatch(pipe)

    def _unwatch(self, pipe: _CapturedStream) -> None:
        if pipe.watched:
            pipe.watched = False
            self._loop.remove_reader(pipe.file)

    def _read(self, pipe: _CapturedStream) -> None:
        try:
            data = os.read(pipe.file.fileno(), _CHUNK)
        except BlockingIOError:
            return
        pipe.capture.add(data)
        if self._queue is not None:
            self._queue.put(pipe.splitter.add(data))
            self._news.set()
        if not data:
            self._close(pipe)
            self._settle()
        elif self._queue is not None and self._queue.full:
            self._watch()

    def _close(self, pipe: _CapturedStream) -> None:
        if pipe.open:
            self._unwatch(pipe)
            pipe.open = False
            pipe.file.close()
            self._news.set()

    def _settle(self) -> None:
        """Check what is left to wait for."""
        drained = not any(pipe.open for pipe in self._pipes)
        if self._gone and (drained or self.start_errno is not None):
            self._finish()
        elif drained and self._exit_code is not None:
            self._end()
        self._watch()

    def _finish(self) -> None:
        """Release everything; a process still alive then cannot be killed."""
        if self._finished:
            return
        self._finished = True
        for timer in self._timers:
            timer.cancel()
        for pipe in self._pipes:
            self._close(pipe)
        self._loop.remove_reader(self._control)
        self._control.close()
        self._ended = self._ended or time.monotonic()
        self._reap(time.monotonic() + (DRAIN_SECONDS if self._gone else 0))

    def _reap(self, until: float) -> None:
        """Look until the supervisor has ended; the event loop goes on meanwhile.

        Where it is not gone, it goes on trying until the last process of the tree is.
        """
        if self._supervisor.poll() is None and time.monotonic() < until:
            self._loop.call_later(_LOOK_SECONDS, self._reap, until)
            return
        self.settled.set()
        self._done.set()

    def _exit(self) -> Exit:
        out, err = (pipe.capture for pipe in self._pipes)
        ended = self._began if self._ended is None else self._ended
        return Exit(
            exit_code=-9 if self._exit_code is None else self._exit_code,
            stdout=out.text(),
            stderr=err.text(),
            stdout_bytes=out.total,
            stderr_bytes=err.total,
            stdout_truncated=out.truncated,
            stderr_truncated=err.truncated,
            replaced_bytes=out.replaced + err.replaced,
            duration_ms=round((ended - self._began) * 1000, 3),
            timed_out=self._timed_out,
        )
