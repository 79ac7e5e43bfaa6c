"""One program in a jail, from its start until nothing of it is left."""

import os
import time
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import anyio
from anyio import CapacityLimiter, to_thread

from lineshaft.engines import Jail, Jailed, Walls
from lineshaft.processes import Capture

STDOUT_BYTES = 50_000
STDERR_BYTES = 10_000
_CHUNK = 1 << 16
_DRAIN_SECONDS = 1.0
_STARTED = b"started\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a program ended."""

    exit_code: int | None
    """None: its time was up, and it was ended."""

    started: bool
    """Whether the program itself was reached, not only the interpreter in front of it."""

    stdout: Capture
    stderr: Capture
    milliseconds: int
    jailed: Jailed
    """Its jail, which still knows the changes."""


class _Pipe:
    """One output stream: both ends, and what came through."""

    def __init__(self, limit: int) -> None:
        self.capture = Capture(limit)
        self.read, self.write = os.pipe()

    def close_write(self) -> None:
        """Close our copy of the end that the inside writes to, or the other end never comes."""
        if self.write >= 0:
            os.close(self.write)
            self.write = -1

    async def drain(self) -> None:
        """Take everything that comes, up to the end."""
        os.set_blocking(self.read, False)
        while True:
            await anyio.wait_readable(self.read)
            data = os.read(self.read, _CHUNK)
            if not data:
                return
            self.capture.add(data)

    def close(self) -> None:
        """Close what is open."""
        self.close_write()
        os.close(self.read)


@asynccontextmanager
async def jailed_run(
    jail: Jail, argv: Sequence[str], *, walls: Walls, apart: Path, source: bytes, seconds: float
) -> AsyncGenerator[Ended]:
    """Run a program to its end or until its time is up; its jail stays until the block is left.

    Args:
        jail: Where it runs.
        argv: Interpreter, runner and arguments.
        walls: What it may reach.
        apart: The workspace's folder, which is left as it is.
        source: What the runner reads.
        seconds: Then everything inside ends.

    Raises:
        NoBoundary: The jail could not be put up.
    """
    limiter = CapacityLimiter(4)  # own threads: whoever waits must not keep others from ending
    with _memory_file(source) as stdin, _pipe(STDOUT_BYTES) as out, _pipe(STDERR_BYTES) as err:
        begun = time.monotonic()
        start = partial(
            jail.start,
            argv,
            walls=walls,
            stdin=stdin,
            stdout=out.write,
            stderr=err.write,
            apart=apart,
        )
        jailed = await to_thread.run_sync(start, limiter=limiter)
        try:
            code = await _until_ended(jailed, (out, err), seconds=seconds, limiter=limiter)
            yield Ended(
                exit_code=code,
                started=os.pread(stdin, len(_STARTED), 0) == _STARTED,
                stdout=out.capture,
                stderr=err.capture,
                milliseconds=round((time.monotonic() - begun) * 1000),
                jailed=jailed,
            )
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(jailed.close, limiter=limiter)


async def _until_ended(
    jailed: Jailed, pipes: Sequence[_Pipe], *, seconds: float, limiter: CapacityLimiter
) -> int | None:
    code = None
    async with anyio.create_task_group() as group:
        for pipe in pipes:
            pipe.close_write()
            group.start_soon(pipe.drain)
        try:
            code = await to_thread.run_sync(
                jailed.wait, seconds, limiter=limiter, abandon_on_cancel=True
            )
        finally:
            if code is None:
                with anyio.CancelScope(shield=True):
                    await to_thread.run_sync(jailed.kill, limiter=limiter)
        group.cancel_scope.deadline = anyio.current_time() + _DRAIN_SECONDS
    return code


@contextmanager
def _memory_file(content: bytes) -> Generator[int]:
    file = os.memfd_create("python_run")
    try:
        with os.fdopen(os.dup(file), "wb") as writer:
            writer.write(content)
        os.lseek(file, 0, os.SEEK_SET)
        yield file
    finally:
        os.close(file)


@contextmanager
def _pipe(limit: int) -> Generator[_Pipe]:
    pipe = _Pipe(limit)
    try:
        yield pipe
    finally:
        pipe.close()
