"""Processes below this one, and a script that leaves some."""

import asyncio

import psutil

from engines.play import Play
from lineshaft.engines._cpython import CPythonEngine

DAEMON = """
import os, signal, time
def daemon():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                time.sleep(0.001)
        os._exit(0)
    time.sleep(0.02)
daemon()
"""
"""Leaves a process of another session, whose parents are gone."""


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
    """Return how many processes there are once a spare child is there."""
    assert await Play(engine).value("1") == 1
    await asyncio.sleep(0.2)
    return inside()
