"""A program: run Lineshaft's programs, each in a process forked from this one, which imported it.

    python server.py SOCKET [SETTINGS]

takes orders at a socket, until standard input ends: one line of JSON, with the three descriptors
that the program has for its streams. The answers are the id of its process, and in a second line
its exit code. SETTINGS are those of coverage, if that is measured.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import random
import runpy
import select
import signal
import socket
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

import coverage

from lineshaft.cli import commands

MORE = (
    *("anyio._backends._asyncio", "docstring_parser", "rich.console"),
    *("lineshaft.checker", "lineshaft.engines.host", "lineshaft.engines.wasm", "lineshaft.kit"),
    *("lineshaft.sandbox.webassembly._runtime", "lineshaft.scripts", "lineshaft.session"),
    *("lineshaft.store", "lineshaft.workspace", "wasmtime.component"),
)
"""What commands import on their way."""

MOST = 1024
"""Descriptors have smaller numbers."""


def main() -> None:
    """Take orders."""
    path, *settings = sys.argv[1:]
    del sys.path[0]  # the folder of this file
    measuring = coverage.Coverage(config_file=settings[0]) if settings else None
    if measuring is not None:
        measuring.start()
    for module in pkgutil.walk_packages(commands.__path__, f"{commands.__name__}."):
        importlib.import_module(module.name)
    for name in MORE:
        importlib.import_module(name)
    if measuring is not None:
        measuring.stop()
        measuring.save()
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno())
    signal.signal(signal.SIGCHLD, lambda _signal, _frame: None)
    running: dict[int, socket.socket] = {}
    while True:
        ready = select.select([sys.stdin, listener, woken], [], [])[0]
        if sys.stdin in ready:
            break
        if woken in ready:
            woken.recv(MOST)
            _tell_ends(running)
        if listener in ready:
            asked, _ = listener.accept()
            text, streams, _, _ = socket.recv_fds(asked, 1 << 16, 3)
            while not text.endswith(b"\n"):
                text += asked.recv(1 << 16)
            pid = os.fork()
            if not pid:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                for each in (listener, asked, woken, wakes, *running.values()):
                    each.detach()
                _become(json.loads(text), streams)
                return
            for stream in streams:
                os.close(stream)
            asked.sendall(f"{pid}\n".encode())
            running[pid] = asked
    Path(path).unlink()


def _tell_ends(running: dict[int, socket.socket]) -> None:
    """Tell those that asked the exit codes of programs that have ended."""
    while running:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            break
        with suppress(BrokenPipeError), running.pop(pid) as asked:
            asked.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


def _become(order: dict[str, Any], streams: list[int]) -> None:
    """Be a Python that was started with the arguments, as far as a program can tell."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(3, MOST)
    if order["session"]:
        os.setsid()
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    time.tzset()
    random.seed()
    for name, mode, buffering in (("stdin", "r", -1), ("stdout", "w", -1), ("stderr", "w", 1)):
        old = getattr(sys, name)
        new = open(  # noqa: SIM115  a stream of the process
            old.fileno(), mode, buffering, encoding=old.encoding, errors=old.errors, closefd=False
        )
        setattr(sys, name, new)
        setattr(sys, f"__{name}__", new)
    if "COVERAGE_PROCESS_START" in os.environ:
        coverage.process_startup(force=True)
    kind, name, *words = order["argv"]
    sys.argv = [name, *words]
    first = order["cwd"] if kind == "-m" else str(Path(name).parent)
    further = order["env"].get("PYTHONPATH", "")
    sys.path[:0] = [first, *(each for each in further.split(os.pathsep) if each)]
    try:
        if kind == "-m":
            runpy.run_module(name, run_name="__main__", alter_sys=True)
        else:
            runpy.run_path(name, run_name="__main__")
    except SystemExit as end:
        if isinstance(end.code, int):
            _end(end.code)
        raise


def _end(code: int) -> NoReturn:
    """End the process as Python ends, but for objects: to free each copies all memory first."""
    threading._shutdown()  # pyright: ignore  as Python does at its end: nothing public does it
    atexit._run_exitfuncs()  # pyright: ignore  as above
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
