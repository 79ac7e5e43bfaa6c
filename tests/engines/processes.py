"""Processes below this one."""

import asyncio

import psutil

from engines.play import Play
from lineshaft.engines.cpython import CPythonEngine


def inside() -> int:
    """Return how many processes live below this one."""
    return sum(map(lives, psutil.Process().children(recursive=True)))


def lives(process: psutil.Process) -> bool:
    """Return whether a process has not ended."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def steady(engine: CPythonEngine) -> int:
    """Return how many processes there are once a spare process is there."""
    assert await Play(engine).value("1") == 1
    await asyncio.sleep(0.2)
    return inside()
