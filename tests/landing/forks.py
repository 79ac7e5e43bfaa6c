"""Work in processes of their own, which may be killed: forked, so that each costs a millisecond.

Only for programs without threads, such as `crashes.py` and `kills.py` here.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable, Coroutine

import anyio


def begin(work: Callable[[], Coroutine[object, object, None]]) -> int:
    """Start some work in a process of its own, and return its id."""
    sys.stdout.flush()
    pid = os.fork()
    if pid:
        return pid
    try:
        anyio.run(work)
    except BaseException:  # noqa: BLE001  a process ends here, whatever happened
        traceback.print_exc()
        os._exit(1)
    os._exit(0)


def ended(pid: int) -> int:
    """Wait for the end of a process; return its exit code, minus the number of a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def done(work: Callable[[], Coroutine[object, object, None]]) -> int:
    """Do some work in a process of its own, and return how that ended."""
    return ended(begin(work))


def die() -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)
