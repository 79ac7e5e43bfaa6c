"""Search for processes by the mark in their environment, where their supervisor was killed."""

import contextlib
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

MARK = "LINESHAFT_TREE"
"""Name of the variable."""

_PASSES = 20


def end_marked(mark: str) -> None:
    """Kill every process that carries the mark; a look at each process of the machine.

    Does nothing where there is no `/proc`. A process that changed its own environment's memory
    or was started with another one is not found.
    """
    if sys.platform != "linux":
        return
    for _ in range(_PASSES):
        pids = set(_marked(f"{MARK}={mark}".encode()))
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        if not pids:
            return


def _marked(text: bytes) -> Iterator[int]:
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and text in _environment(folder).split(b"\0"):
            yield int(folder.name)


def _environment(folder: Path) -> bytes:
    """Return what a process or, where its first thread has ended, another thread shows of it."""
    with contextlib.suppress(OSError):
        for place in _places(folder):
            with contextlib.suppress(OSError):
                if data := (place / "environ").read_bytes():
                    return data
    return b""


def _places(folder: Path) -> Iterator[Path]:
    yield folder
    yield from (folder / "task").iterdir()
