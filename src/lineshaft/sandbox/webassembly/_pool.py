"""The pool: instances that have run a rehearsal, kept ready by a thread in the background.

Each is made and rehearsed in the same way, with the same clock and the same random bytes, so that
all have one history: the addresses of objects and the order of sets agree between processes.
"""

import atexit
import json
import os
import random
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, cast

from lineshaft.sandbox.webassembly._forks import in_each_child
from lineshaft.sandbox.webassembly._instance import Guest, Instance
from lineshaft.sandbox.webassembly._threads import start_deep

_REHEARSAL = json.dumps({"do": "rehearse"})
_REHEARSAL_MB = 256
_LULL = 0.02
"""Seconds after one was taken in which no other is made, unless none is left."""

_LONGEST_END = 1.0  # making native code cannot be stopped, and need not be waited for

T = TypeVar("T")


class RehearsalHost:
    """The host of a rehearsal: the same one each time, to the last bit."""

    def __init__(self) -> None:
        self._time = 1_000_000_000
        self._random = random.Random(0)  # noqa: S311  it has to be the same each time

    def turn(self, seconds: float, requests: str) -> str:
        """Answer the first call with nothing."""
        del seconds
        for request in cast("list[dict[str, Any]]", json.loads(requests or "[]")):
            if "call" in request:
                return json.dumps([{"id": request["call"], "value": None}])
        return "[]"

    def write(self, name: str, text: str) -> None:
        """Take output that is not read."""

    def package(self, request: str) -> str:
        """Have no packages."""
        del request
        return '{"kind": "none"}'

    def monotonic(self) -> int:
        """Return a clock that goes on by a millisecond a reading."""
        self._time += 1_000_000
        return self._time

    def wall(self) -> int:
        """Return the same moments each time."""
        return 1_767_225_600_000_000_000 + self.monotonic()

    def random(self, count: int) -> bytes:
        """Return the same bytes each time."""
        return self._random.randbytes(count)


class _Importing:
    """The lock around the import of wasmtime."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin anew: a thread of the parent that held it is not in its child."""
        self.lock = threading.Lock()


_IMPORTING = _Importing()
in_each_child(_IMPORTING.renew)


def new_guest() -> Guest:
    """Return a guest that has run its rehearsal; the thread has a deep stack.

    Raises:
        WasmUnavailable: This machine or installation cannot run it.
    """
    with _IMPORTING.lock:  # an import that fails in two threads at once hides its reason
        from lineshaft.sandbox.webassembly import _runtime  # noqa: PLC0415  imports wasmtime

    guest = Guest(_runtime.runtime(), _REHEARSAL_MB)
    try:
        guest.call(_REHEARSAL, RehearsalHost())
    except BaseException:
        guest.close()
        raise
    return guest


class DeepJob(Generic[T]):
    """Work of a thread with a deep stack, for which another thread waits.

    Args:
        work: The work.
    """

    def __init__(self, work: Callable[[], T]) -> None:
        self._work = work
        self._over = threading.Event()
        self._value: T | None = None
        self._error: BaseException | None = None

    def start(self) -> Self:
        """Start the thread."""
        start_deep(self._do, "lineshaft-guest")
        return self

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for its end; return whether it is over."""
        return self._over.wait(seconds)

    def result(self) -> T:
        """Wait for its end and return its value, or raise its exception."""
        self._over.wait()
        if self._error is not None:
            raise self._error
        return cast("T", self._value)

    def _do(self) -> None:
        try:
            self._value = self._work()
        except BaseException as error:  # noqa: BLE001  it is raised where it is waited for
            self._error = error
        finally:
            self._over.set()


class Instances:
    """Instances, some of them ready before they are asked for.

    Usable from any thread, in any number of event loops, and in a forked child, which makes its
    own.

    Args:
        ready: Number of instances kept ready; 0 for a process that runs one script.
    """

    def __init__(self, *, ready: int = 2) -> None:
        self._wanted = ready
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._change = threading.Condition()
        self._ready: deque[Instance] = deque()
        self._taken_at = 0.0
        self._thread: threading.Thread | None = None
        self._closed = False
        self._failed = False

    def warm(self) -> None:
        """Begin to make the wanted instances ready; returns at once."""
        self._here()
        with self._change:
            self._keep_thread()
            self._change.notify_all()

    def take_ready(self) -> Instance | None:
        """Return an instance that is ready, and have another one made; None where none is.

        Raises:
            RuntimeError: The pool is closed.
        """
        self._here()
        with self._change:
            if self._closed:
                raise RuntimeError("the pool of instances is closed")
            self._failed = False
            self._taken_at = time.monotonic()
            self._keep_thread()
            self._change.notify_all()
            return self._ready.popleft() if self._ready else None

    def take(self) -> Instance:
        """Return an instance: a ready one, or one that is made now, in some milliseconds.

        Raises:
            WasmUnavailable: This machine or installation cannot run it.
            RuntimeError: The pool is closed.
        """
        found = self.take_ready()
        if found is not None:
            return found
        return DeepJob(self._make).start().result()

    def close(self) -> None:
        """End the thread and give back ready instances; taken instances live on."""
        self._here()
        with self._change:
            self._closed = True
            left = list(self._ready)
            self._ready.clear()
            thread, self._thread = self._thread, None
            self._change.notify_all()
        if thread is not None:
            thread.join(_LONGEST_END)
        for instance in left:
            instance.close()

    def _lull(self) -> float:
        """Return for how many seconds no instance is to be made after one was taken."""
        return self._taken_at + _LULL - time.monotonic()

    def _make(self) -> Instance:
        return Instance(new_guest())

    def _here(self) -> None:
        """Begin anew in a forked process: it does not have the thread."""
        if self._process != os.getpid():
            closed = self._closed
            self._begin()
            self._closed = closed

    def _keep_thread(self) -> None:
        if self._wanted and self._thread is None and not self._closed:
            _POOLS.add(self)
            self._thread = start_deep(self._fill, "lineshaft-instances")

    def _fill(self) -> None:
        while True:
            with self._change:
                while not self._closed and (self._failed or len(self._ready) >= self._wanted):
                    self._change.wait()
                # The run that has just begun goes first, as long as one is left for the next.
                while not self._closed and self._ready and (left := self._lull()) > 0:
                    self._change.wait(left)
                if self._closed:
                    return
            try:
                made = self._make()
            except Exception:  # noqa: BLE001  a taker makes one itself, and gets the error
                made = None
            with self._change:
                if made is None:
                    self._failed = True
                elif self._closed:
                    made.close()
                    return
                else:
                    self._ready.append(made)


_POOLS: "weakref.WeakSet[Instances]" = weakref.WeakSet()


def _close_all() -> None:
    """Close the pools that still make instances when the process ends."""
    for pool in list(_POOLS):
        pool.close()


atexit.register(_close_all)
