"""One program in a jail, from its start until nothing of it is left.

It is started, listened to and ended in one thread, which is told when the call is cancelled, and
waited for: a cancelled call must not leave a program behind.
"""

import asyncio
import os
import selectors
import sys
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from threading import Event
from time import monotonic
from typing import TypeVar

from anyio import CapacityLimiter, to_thread

from lineshaft.errors import NoBoundary
from lineshaft.processes import Capture, Splitter
from lineshaft.sandbox.jail import Jail, Jailed, SandboxSpec
from lineshaft.tasks import wait_until_done
from lineshaft.values import Line, SecretFinder, Stream, Struct

STDOUT_BYTES = 50_000
STDERR_BYTES = 10_000
_CHUNK = 1 << 16
_DRAIN_SECONDS = 1.0
_LOOK_SECONDS = 0.1
_STARTED = b"started\n"


class ProgramTime(Struct, frozen=True, kw_only=True):
    """When a program is ended."""

    seconds: float
    """After its start."""

    until: float
    """By `time.monotonic()`, however long the start took."""

    def left(self) -> float:
        """Return how long a program that starts now may take."""
        return round(max(0.05, min(self.seconds, self.until - monotonic())), 3)


class JailedProgram(Struct, frozen=True, kw_only=True):
    """A program to run in a jail, and its place."""

    argv: Sequence[str]
    """Interpreter, runner and arguments."""

    source: bytes
    """What the runner reads."""

    spec: SandboxSpec
    apart: Path
    """The workspace's folder, which is left as it is."""

    time: ProgramTime
    secrets: SecretFinder
    """What is not cut in two where its output is."""

    on_line: Callable[[Line], object] | None = None
    """Is told each line as it comes, in the thread that listens; must not raise."""


class ProgramOutcome(Struct, frozen=True, kw_only=True):
    """How a program ended."""

    exit_code: int | None
    """None: its time was up, and it was ended."""

    started: bool
    """Whether the program itself was reached, not only the interpreter in front of it."""

    seconds: float
    """What it had."""

    stdout: Capture
    stderr: Capture
    milliseconds: int
    jailed: Jailed
    """Its jail, which still knows the changes."""


@asynccontextmanager
async def jailed_run(jail: Jail, order: JailedProgram) -> AsyncGenerator[ProgramOutcome]:
    """Run a program to its end or until its time is up; its jail stays until the block is left.

    Raises:
        NoBoundary: The jail could not be put up.
    """
    ended = await to_the_end(
        lambda cancelled: _run(jail, order, cancelled), lambda ended: ended.jailed.close()
    )
    try:
        yield ended
    finally:
        await to_the_end(lambda _: ended.jailed.close())


def _run(jail: Jail, order: JailedProgram, cancelled: Event) -> ProgramOutcome:
    out = Capture(STDOUT_BYTES, secrets=order.secrets)
    err = Capture(STDERR_BYTES, secrets=order.secrets)
    begun = monotonic()
    with _memory_file(order.source) as stdin, _pipe() as to_out, _pipe() as to_err:
        jailed = jail.start(
            order.argv,
            spec=order.spec,
            stdin=stdin,
            stdout=to_out.write,
            stderr=to_err.write,
            apart=order.apart,
        )
        try:
            seconds = order.time.left()
            told = order.on_line
            with closing(
                _Listener(
                    {
                        to_out: _Heard(out, "stdout", told, order.secrets),
                        to_err: _Heard(err, "stderr", told, order.secrets),
                    }
                )
            ) as listener:
                code = _until_ended(jailed, listener, seconds=seconds, cancelled=cancelled)
        except BaseException:
            jailed.close()
            raise
        return ProgramOutcome(
            exit_code=code,
            started=_says_started(stdin),
            seconds=seconds,
            stdout=out,
            stderr=err,
            milliseconds=round((monotonic() - begun) * 1000),
            jailed=jailed,
        )


def _until_ended(
    jailed: Jailed, listener: "_Listener", *, seconds: float, cancelled: Event
) -> int | None:
    until = monotonic() + seconds
    code = None
    while code is None and not cancelled.is_set() and (left := until - monotonic()) > 0:
        look = min(left, _LOOK_SECONDS)
        # Once both streams have ended only the end itself is left to wait for.
        code = jailed.wait(0 if listener.listen(look) else look)
    if code is None:
        jailed.kill()
    until = monotonic() + _DRAIN_SECONDS
    while listener.listen(_LOOK_SECONDS) and monotonic() < until:
        pass
    return code


class _OutputPipe:
    """Both ends of one output stream."""

    def __init__(self) -> None:
        self.read, self.write = os.pipe()

    def close_write(self) -> None:
        """Close our copy of the end that the inside writes to, or the other end never comes."""
        if self.write >= 0:
            os.close(self.write)
            self.write = -1


class _Heard:
    """Takes the bytes of one stream: they are kept, and told line by line."""

    def __init__(
        self,
        capture: Capture,
        stream: Stream,
        told: Callable[[Line], object] | None,
        secrets: SecretFinder,
    ) -> None:
        self._capture, self._told = capture, told
        self._splitter = Splitter(stream, secrets=secrets)

    def add(self, data: bytes) -> None:
        """Take the next bytes; empty at the end."""
        self._capture.add(data)
        self._tell(data)

    def end(self) -> None:
        """Tell the last line of a stream whose end did not come."""
        self._tell(b"")

    def _tell(self, data: bytes) -> None:
        if self._told is not None:
            for line in self._splitter.add(data):
                self._told(line)


class _Listener:
    """Takes what comes out of several pipes."""

    def __init__(self, pipes: "dict[_OutputPipe, _Heard]") -> None:
        self._captures = {pipe.read: heard for pipe, heard in pipes.items()}
        self._open = selectors.DefaultSelector()
        for pipe in pipes:
            pipe.close_write()
            self._open.register(pipe.read, selectors.EVENT_READ)

    def listen(self, seconds: float) -> bool:
        """Wait for output and take it; return whether more may come."""
        if self._captures:
            for key, _ in self._open.select(seconds):
                data = os.read(key.fd, _CHUNK)
                self._captures[key.fd].add(data)
                if not data:
                    self._open.unregister(key.fd)
                    del self._captures[key.fd]
        return bool(self._captures)

    def close(self) -> None:
        """Stop listening."""
        for heard in self._captures.values():
            heard.end()
        self._open.close()


def _says_started(file: int) -> bool:
    """Return whether the runner inside has put its sign in the place of the source."""
    os.lseek(file, 0, os.SEEK_SET)
    return os.read(file, len(_STARTED)) == _STARTED


@contextmanager
def _memory_file(content: bytes) -> Generator[int]:
    if sys.platform != "linux":
        raise NoBoundary("programs run in jails on Linux only")
    file = os.memfd_create("python_run")
    try:
        with os.fdopen(os.dup(file), "wb") as writer:
            writer.write(content)
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


@contextmanager
def _pipe() -> Generator[_OutputPipe]:
    pipe = _OutputPipe()
    try:
        yield pipe
    finally:
        pipe.close_write()
        os.close(pipe.read)


T = TypeVar("T")


def _keep(result: object) -> None:
    del result


async def until_cancelled(work: Callable[[Event], T]) -> T:
    """Do something in a thread; a cancelled task leaves at once, and the result is dropped.

    Args:
        work: What is done; the event is set when the task is cancelled, so that it may end early.
    """
    left, alone = Event(), CapacityLimiter(1)
    try:
        # A limiter of its own: a thread that was left must keep no other program waiting.
        return await to_thread.run_sync(work, left, abandon_on_cancel=True, limiter=alone)
    except BaseException:
        left.set()
        raise


async def to_the_end(work: Callable[[Event], T], drop: Callable[[T], object] = _keep) -> T:
    """Do something in a thread; a cancelled task says so to it, and waits for it all the same.

    Args:
        work: What is done; the event is set when the task is cancelled.
        drop: Is given the result of work that came to its end all the same.
    """
    # asyncio itself, not anyio's threads: those are given up when a task is cancelled from outside
    # of anyio, as the gate does, and what they hold would be let go of while they work.
    told = Event()
    # A limiter of its own: programs must not wait for threads that other programs hold.
    thread = to_thread.run_sync(work, told, limiter=CapacityLimiter(1))
    task = asyncio.ensure_future(thread)
    try:
        await asyncio.wait((task,))
    except asyncio.CancelledError:
        told.set()
        try:
            await wait_until_done((task,))
        finally:
            if task.exception() is None:
                drop(task.result())
        raise
    return task.result()
