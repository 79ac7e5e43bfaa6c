"""What the interpreter knows of itself under names that are not public, or not in every version.

Each has been there in every Python since 3.11; a new version is tried by the tests.
"""

import _thread
import asyncio
import atexit
import ctypes
import gc
import inspect
import random
import sys
import threading
from collections.abc import Callable, Mapping
from types import FrameType
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from hashlib import _Hash

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportAttributeAccessIssue=false


def calling_frame() -> FrameType:
    """Return the frame of whoever called the function that asks."""
    return sys._getframe(2)  # noqa: SLF001  the public way is slower, or there is none


def depth() -> int:
    """Return how deep the caller's calls are nested."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001  the public way is slower, or there is none
    count = 0
    while frame is not None:
        count, frame = count + 1, frame.f_back
    return count


def frames() -> Mapping[int, FrameType]:
    """Return the innermost frame of every thread."""
    return sys._current_frames()  # noqa: SLF001  the public way is slower, or there is none


def other_threads() -> int:
    """Return how many threads there are beside the main one, and quickly."""
    return _thread._count()  # noqa: SLF001  the public way is slower, or there is none


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop of this thread; the public function raises where there is none."""
    return asyncio._get_running_loop()  # noqa: SLF001  the public way is slower, or there is none


def wind_up() -> None:
    """Do what the interpreter does at its end: wait for threads, call what asked for it."""
    if other_threads():
        cast("Callable[[], None]", threading._shutdown)()  # noqa: SLF001  the public way is slower, or there is none
    atexit._run_exitfuncs()  # noqa: SLF001  the public way is slower, or there is none


def replacing(kind: type, methods: Mapping[str, Callable[..., object]]) -> Callable[[], None]:
    """Return what has class methods of a class that is written in C do something else."""
    [attributes] = gc.get_referents(vars(kind))
    new = {name: classmethod(method) for name, method in methods.items()}
    attributes.update({name: attributes[name] for name in new})
    modified, itself = ctypes.pythonapi.PyType_Modified, ctypes.py_object(kind)

    def replace() -> None:
        attributes.update(new)
        modified(itself)

    return replace


def digest(text: bytes) -> bytes:
    """Return 64 bytes that nobody can foretell who does not know all of a text."""
    sha512 = cast(
        "Callable[[bytes], _Hash]",
        random._sha512,  # noqa: SLF001  which `hashlib` would take longer to bring
    )
    return sha512(text).digest()


def feed_random(urandom: Callable[[int], bytes], seed: Callable[[], int]) -> None:
    """Have the module `random` take its entropy from elsewhere, and seed it from there."""
    original = random.Random.seed

    def seeded(self: random.Random, a: object = None, version: int = 2) -> None:
        original(self, seed() if a is None else a, version)  # pyright: ignore[reportArgumentType]  as it is given

    random._urandom = urandom  # noqa: SLF001  the public way is slower, or there is none
    random.Random.seed = seeded
    random.seed = random._inst.seed  # noqa: SLF001  the public way is slower, or there is none
    random.seed()


def mark_coroutine_function(function: Callable[..., object]) -> None:
    """Have `iscoroutinefunction` say yes."""
    mark = getattr(inspect, "markcoroutinefunction", None)
    if mark is not None:
        mark(function)
    else:
        vars(function)["_is_coroutine"] = asyncio.coroutines._is_coroutine  # noqa: SLF001  the public way is slower, or there is none
