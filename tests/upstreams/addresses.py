"""Servers of this folder that listen, each in a process of its own, and how they are ended."""

import signal
import socket
import subprocess
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any

import anyio
import anyio.lowlevel

from measuring import unmeasured


def free_port() -> int:
    """Return a port that nobody listens at now."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def end(process: "subprocess.Popen[Any]") -> None:
    """End a program as Ctrl-C does, so that it can close what it holds; else kill it."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(timeout=20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        with suppress(BrokenPipeError):
            if stream is not None:
                stream.close()


@asynccontextmanager
async def listening(command: Sequence[str], port: int) -> AsyncGenerator["subprocess.Popen[str]"]:
    """Start a program, and wait until it listens; it is killed at the end of the block."""
    process = subprocess.Popen(  # noqa: ASYNC220  some milliseconds
        command,
        env=unmeasured(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        with anyio.fail_after(30):
            while True:
                try:
                    await (await anyio.connect_tcp("127.0.0.1", port)).aclose()
                    break
                except OSError:
                    await anyio.lowlevel.checkpoint()
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
