"""A program: run Lineshaft's programs, each in a process forked from this one, which imported it.

    python server.py SOCKET [SETTINGS]

takes orders at a socket, until standard input ends: one line of JSON, with the three descriptors
that the program has for its streams. The answers are the id of its process, and in a second line
its exit code. SETTINGS are those of coverage, if that is measured.
"""

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
import time
from pathlib import Path
from typing import Any

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
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for those that take orders
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while sys.stdin not in select.select([listener, sys.stdin], [], [])[0]:
        asked, _ = listener.accept()
        if not os.fork():
            listener.detach()
            _take(asked)
            return
        asked.close()
    Path(path).unlink()


def _take(asked: socket.socket) -> None:
    """Start what is ordered, and tell its end; return in its process, when it came to its end."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    text, streams, _, _ = socket.recv_fds(asked, 1 << 16, 3)
    while not text.endswith(b"\n"):
        text += asked.recv(1 << 16)
    pid = os.fork()
    if not pid:
        asked.detach()
        _become(json.loads(text), streams)
        return
    for stream in streams:
        os.close(stream)
    asked.sendall(f"{pid}\n".encode())
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    asked.sendall(f"{code}\n".encode())
    os._exit(0)


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
    if kind == "-m":
        sys.path.insert(0, order["cwd"])
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    else:
        sys.path.insert(0, str(Path(name).parent))
        runpy.run_path(name, run_name="__main__")


if __name__ == "__main__":
    main()
