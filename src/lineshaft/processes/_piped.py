"""A process tree with a dialogue: bytes in on its standard input, bytes out on its output.

Above: clients of a program's protocol, such as a client of MCP servers. Below:
`_supervisor.py`, over a socket, as for commands: the whole tree ends with the block, the task or
the host.
"""

import contextlib
import errno
import os
import secrets
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import anyio.lowlevel

from lineshaft.errors import WorkspaceError
from lineshaft.processes._capture import not_utf8
from lineshaft.processes._environment import minimal_environment
from lineshaft.processes._start import SUPERVISOR, not_launched, not_started
from lineshaft.processes._stray import MARK, end_marked

CLOSE_SECONDS = 1.0
"""For the program to end by itself once its input is closed."""

GRACE_SECONDS = 2.0
"""For it to end after SIGTERM."""

_DRAIN_SECONDS = 0.3
"""For output that still comes after the program's end."""

_START_SECONDS = 10.0
_REAP_SECONDS = 1.0
_CHUNK = 65_536


@asynccontextmanager
async def piped(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    stderr_bytes: int = 8_192,
) -> AsyncGenerator["Piped"]:
    """Start a program and talk to it as long as the block lasts.

    At the end its input is closed; it gets 2 s to end, SIGTERM, 2 s more, then all that is left of
    its tree is killed. So it is when the block is cancelled, and at once when the host dies.

    Args:
        argv: The program and its arguments; no shell.
        cwd: Its working folder.
        env: Its variables, beside the few that are passed on from the host.
        stderr_bytes: Bytes kept of the end of its other output.

    Raises:
        FileMissing: There is no such program.
        WorkspaceError: It could not be started for another reason.
    """
    process = _launch(argv, cwd, minimal_environment(env or {}), stderr_bytes)
    tasks = anyio.create_task_group()
    await tasks.__aenter__()
    try:
        for look in (process.hear, process.collect):
            tasks.start_soon(process.to_the_end, look)
        with anyio.move_on_after(_START_SECONDS):
            await process.settled.wait()
        if process.start_errno is not None or not process.settled.is_set():
            raise not_started(argv[0], process.start_errno or errno.ETIMEDOUT)
        yield process
    finally:
        with anyio.CancelScope(shield=True):
            await process.end()
        process.stop_looking()
        try:
            # The task group does not see the error, which it would wrap: it goes on unchanged.
            await tasks.__aexit__(None, None, None)
        finally:
            with anyio.CancelScope(shield=True):
                await process.let_go()


class Piped:
    """A running program.

    Args:
        mark: The mark in its environment, to find it if the supervisor is killed.
        supervisor: The process that watches it.
        control: The socket to the supervisor.
        pipes: The host's ends of its input, output and other output.
        stderr_bytes: Bytes kept of the last one.
    """

    def __init__(
        self,
        *,
        mark: str,
        supervisor: "subprocess.Popen[bytes]",
        control: socket.socket,
        pipes: tuple[int, int, int],
        stderr_bytes: int,
    ) -> None:
        self.pid = 0
        """Of the program itself; 0 until it runs."""

        self.exit_code: int | None = None
        """How it ended; None as long as it runs."""

        self.start_errno: int | None = None
        """The reason why it could not be started; None where it was."""

        self.settled = anyio.Event()
        """Set once it is known whether it was started."""

        self._mark = mark
        self._supervisor = supervisor
        self._control = control
        self._stdin, self._stdout, self._stderr = pipes
        self._open = set(pipes)
        self._tail = b""
        self._tail_bytes = stderr_bytes
        self._looking: list[anyio.CancelScope] = []
        self._exited = anyio.Event()
        self._gone = anyio.Event()
        self._empty = False
        self._reading = anyio.CancelScope()
        self._drained = False

    @property
    def stderr(self) -> str:
        """The end of its other output."""
        return self._tail.decode("utf-8", "replace")

    @property
    def replaced(self) -> int:
        """Bytes of it that are not UTF-8."""
        return not_utf8(self._tail)

    async def send(self, data: bytes) -> None:
        """Write to its input.

        Raises:
            BrokenPipeError: It does not read any more.
        """
        rest = memoryview(data)
        while rest:
            if self._stdin not in self._open:
                raise BrokenPipeError(32, "the program's input is closed")
            try:
                rest = rest[os.write(self._stdin, rest[:_CHUNK]) :]
            except BlockingIOError:
                await anyio.wait_writable(self._stdin)

    async def receive(self) -> bytes:
        """Return its next output; empty once it has ended."""
        await anyio.lowlevel.checkpoint()  # a program that never pauses keeps nobody else waiting
        self._reading = anyio.CancelScope()
        data = b""
        with self._reading:
            while not self._drained:
                try:
                    data = os.read(self._stdout, _CHUNK)
                    break
                except BlockingIOError:
                    await anyio.wait_readable(self._stdout)
        return data

    async def ended(self) -> None:
        """Wait a moment for the program's end to be known, after its output has ended."""
        with anyio.move_on_after(_DRAIN_SECONDS):
            await self._exited.wait()

    async def to_the_end(self, look: Callable[[], Awaitable[None]]) -> None:
        """Run a task that goes on when all others are cancelled, until `stop_looking`."""
        with anyio.CancelScope(shield=True) as scope:
            self._looking.append(scope)
            await look()

    def stop_looking(self) -> None:
        """End those tasks."""
        for scope in self._looking:
            scope.cancel()

    async def hear(self) -> None:
        """Take the supervisor's messages, until it is gone."""
        inbox = b""
        while data := await self._heard():
            *lines, inbox = (inbox + data).split(b"\n")
            for line in lines:
                word, _, number = line.decode().partition(" ")
                self._take(word, int(number or 0))
        if not self._empty:
            # The supervisor was killed; its orphans can still be recognised by their mark.
            end_marked(self._mark)
        self._gone.set()
        self.settled.set()
        await anyio.sleep(_DRAIN_SECONDS)
        self._drain()

    async def collect(self) -> None:
        """Keep the end of its other output."""
        while True:
            try:
                data = os.read(self._stderr, _CHUNK)
            except BlockingIOError:
                await anyio.wait_readable(self._stderr)
                continue
            if not data:
                return
            self._tail = (self._tail + data)[-self._tail_bytes :]
            await anyio.lowlevel.checkpoint()

    async def end(self) -> None:
        """End the whole tree; takes a little over 3 s at the most."""
        self._close(self._stdin)
        if self.exit_code is None and self.start_errno is None:
            with anyio.move_on_after(CLOSE_SECONDS):
                await self._gone.wait()
        with contextlib.suppress(OSError):
            self._control.send(f"end {GRACE_SECONDS}\n".encode())
        with anyio.move_on_after(GRACE_SECONDS + _REAP_SECONDS):
            await self._gone.wait()

    async def let_go(self) -> None:
        """Close what is open; the supervisor kills what is left once its socket is closed."""
        self._control.close()
        for pipe in tuple(self._open):
            self._close(pipe)
        with anyio.move_on_after(_REAP_SECONDS):
            while self._supervisor.poll() is None:  # noqa: ASYNC110  no event announces it
                await anyio.sleep(0.005)

    async def _heard(self) -> bytes:
        while True:
            try:
                return self._control.recv(4096)
            except BlockingIOError:
                await anyio.wait_readable(self._control)
            except OSError:
                return b""

    def _take(self, word: str, number: int) -> None:
        match word:
            case "started":
                self.pid = number
                self.settled.set()
            case "failed":
                self.start_errno, self._empty = number, True
                self.settled.set()
            case "exited":
                self.exit_code = number
                self._exited.set()
                with contextlib.suppress(OSError):
                    # The rest of its tree holds the pipes, and gets no further input.
                    self._control.send(b"end 0.5\n")
            case _:
                self._empty = True

    def _drain(self) -> None:
        """Stop waiting for output once no writer is left."""
        self._drained = True
        self._reading.cancel()

    def _close(self, pipe: int) -> None:
        if pipe in self._open:
            self._open.remove(pipe)
            os.close(pipe)


def _launch(argv: Sequence[str], cwd: Path, env: Mapping[str, str], stderr_bytes: int) -> Piped:
    if sys.platform == "win32" or not hasattr(os, "posix_spawnp"):
        raise WorkspaceError(f"programs cannot be started on {sys.platform} by this function")
    mark = secrets.token_hex(16)
    with contextlib.ExitStack() as own, contextlib.ExitStack() as given:
        try:
            near, far = socket.socketpair()
            own.callback(near.close)
            given.callback(far.close)
            near.setblocking(False)  # noqa: FBT003  the standard library's own parameter
            stdin_end, stdin = _pipe(given, own)
            stdout, stdout_end = _pipe(own, given)
            stderr, stderr_end = _pipe(own, given)
            for pipe in (stdin, stdout, stderr):
                os.set_blocking(pipe, False)
            supervisor = subprocess.Popen(  # noqa: S603  a list, no shell
                [sys.executable, "-I", "-S", "-B", str(SUPERVISOR), str(stdin_end), *argv],
                stdin=far.fileno(),
                stdout=stdout_end,
                stderr=stderr_end,
                pass_fds=(stdin_end,),
                cwd=cwd,
                env={**env, MARK: mark},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            raise not_launched(argv[0], cwd, error) from error
        own.pop_all()
    return Piped(
        mark=mark,
        supervisor=supervisor,
        control=near,
        pipes=(stdin, stdout, stderr),
        stderr_bytes=stderr_bytes,
    )


def _pipe(reading: contextlib.ExitStack, writing: contextlib.ExitStack) -> tuple[int, int]:
    """Return the ends of a pipe, to read and to write; a stack of each closes them."""
    read, write = os.pipe()
    reading.callback(os.close, read)
    writing.callback(os.close, write)
    return read, write
