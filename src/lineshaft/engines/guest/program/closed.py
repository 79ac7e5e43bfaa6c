"""Functions closed to a program in WebAssembly, with errors that say what to do instead."""

import errno
import multiprocessing
import os
import subprocess
import threading
from collections.abc import Callable
from typing import Any, NoReturn

from ..changes import Changes

NO_PROGRAMS = (
    "programs cannot be started: this one runs in WebAssembly, which has no processes; the tool"
    " `run_command` starts some"
)
NO_THREADS = (
    "can't start new thread: a program in WebAssembly has one; the executors of concurrent.futures"
    " and asyncio.to_thread do their work at once, in order"
)


def close_processes(changes: Changes, leave: Callable[[int], None]) -> None:
    """Close functions that need other processes or threads; let `os._exit` end the program.

    Args:
        changes: Notes the originals.
        leave: Ends the process with an exit code, and nothing flushed.
    """

    def no_thread(*_args: Any, **_options: Any) -> NoReturn:
        raise RuntimeError(NO_THREADS)

    changes.attribute(os, "_exit", leave)
    changes.attribute(os, "system", _no_program)
    changes.attribute(subprocess.Popen, "__init__", _no_program)
    changes.attribute(threading.Thread, "start", no_thread)
    changes.attribute(multiprocessing.Process, "start", _no_program)


def _no_program(*_args: Any, **_options: Any) -> NoReturn:
    raise OSError(errno.ENOTSUP, NO_PROGRAMS)
