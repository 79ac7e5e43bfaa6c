"""The terminal that a person types on, also where standard input is something else."""

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import anyio

_TTY = "/dev/tty"
_FLAGS = os.O_RDWR | getattr(os, "O_NOCTTY", 0)


def can_ask() -> bool:
    """Return whether a person sits at a terminal of this process."""
    if sys.platform == "win32" or not sys.stderr.isatty():
        return False
    if sys.stdin.isatty():
        return True
    try:
        os.close(os.open(_TTY, _FLAGS))
    except OSError:
        return False
    return True


@asynccontextmanager
async def keyboard() -> AsyncGenerator[int]:
    """Open the terminal, and drop what was typed before, which cannot be meant as an answer."""
    own = sys.stdin.isatty()
    terminal = sys.stdin.fileno() if own else os.open(_TTY, _FLAGS)
    try:
        _forget_typed(terminal)
        yield terminal
    finally:
        if not own:
            os.close(terminal)


def _forget_typed(terminal: int) -> None:
    """Drop what was typed before the question, which cannot be meant as its answer."""
    if sys.platform != "win32":
        import termios  # noqa: PLC0415  only where there is one

        termios.tcflush(terminal, termios.TCIFLUSH)


async def typed_line(terminal: int) -> str | None:
    """Return the next line that is typed; None once the terminal has gone or is closed."""
    data = b""
    while not data.endswith(b"\n"):
        # Waited for in the event loop: a thread that reads could not be called back.
        await anyio.wait_readable(terminal)
        read = os.read(terminal, 4096)
        if not read:
            return None
        data += read
    return data.decode("utf-8", errors="replace")
