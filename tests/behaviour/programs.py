"""What tests of `python_run` share."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, cast

import psutil

import lineshaft.sandbox.webassembly.child
from lineshaft import Session
from lineshaft.values import WASM_BOUNDARY, CallResult

CHILD = str(Path(lineshaft.sandbox.webassembly.child.__file__).with_name("_child.py"))
"""What runs a program in WebAssembly."""

Run = Callable[..., Awaitable[dict[str, Any]]]
"""Runs a program and returns the answer."""

Open = Callable[..., Awaitable[Session]]
"""Opens a session over the kit; settings as `Session`'s."""


def programs(boundary: str, word: str) -> list[int]:
    """Return the processes that run programs of this process.

    Args:
        boundary: What holds them.
        word: One of their arguments, by which those in a jail are told.
    """
    if boundary == WASM_BOUNDARY:
        word, found = CHILD, psutil.Process().children(recursive=True)
    else:
        found = psutil.process_iter()
    return [process.pid for process in found if word in _arguments(process)]


def _arguments(process: psutil.Process) -> list[str]:
    try:
        return [] if process.status() == psutil.STATUS_ZOMBIE else process.cmdline()
    except psutil.NoSuchProcess:
        return []


def value_of(done: CallResult) -> dict[str, Any]:
    """Return the answer of a call that was made."""
    assert done.error is None, done.error
    return cast("dict[str, Any]", done.value)
