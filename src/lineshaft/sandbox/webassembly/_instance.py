"""One instance: a fresh interpreter that is given one order."""

import atexit
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from lineshaft.errors import WasmUnavailable
from lineshaft.sandbox.webassembly import _interfaces
from lineshaft.sandbox.webassembly._cores import CORES
from lineshaft.sandbox.webassembly._errors import (
    GuestStopped,
    GuestTooLarge,
    GuestTrapped,
    TrapKind,
)
from lineshaft.sandbox.webassembly._forks import in_each_child
from lineshaft.sandbox.webassembly._image import image
from lineshaft.sandbox.webassembly._interfaces import Crossing, Host
from lineshaft.sandbox.webassembly._threads import check_depth, start_deep

if TYPE_CHECKING:
    from lineshaft.sandbox.webassembly._runtime import Runtime

LONGEST_ANSWER = 64 << 20
"""The longest answer to an order, in bytes."""

_PROCESS_END = 2.0


class Guest:
    """One store with one instance of the image in it; one thread at a time calls it.

    Args:
        runtime: The runtime that the process shares.
        memory_mb: Memory for its script beside the interpreter itself, in MB.
    """

    def __init__(self, runtime: "Runtime", memory_mb: int) -> None:
        self._runtime = runtime
        self._store = runtime.store(_bytes(memory_mb))
        self._crossing: Crossing | None = None
        self._must_end = False
        self._guard = threading.Lock()
        try:
            instance = runtime.instance(self._store)
            found = instance.get_func(self._store, "run")
        except BaseException:
            self._store.close()
            raise
        if found is None:
            self._store.close()
            raise WasmUnavailable("the image has no function 'run'")
        self._run = found

    def bound(self, memory_mb: int) -> None:
        """Change the bound of its memory."""
        self._runtime.bound(self._store, _bytes(memory_mb))

    def call(self, order: str, host: Host, *, shares: bool = False) -> str:
        """Give it an order in this thread, which has a deep stack, and return its answer.

        Args:
            order: JSON, as the guest takes it.
            host: The host of the guest.
            shares: It takes turns with others where more compute than the machine has cores.

        Raises:
            GuestStopped: The host ended it.
            GuestTrapped: It ended itself; it must not be called again.
        """
        check_depth()
        share = CORES.enter(self._runtime.wake) if shares else None
        crossing = Crossing(host, share)
        with self._guard:
            self._crossing = crossing
            crossing.must_end = self._must_end
        _interfaces.enter(crossing)
        try:
            if crossing.must_end:
                raise GuestStopped
            answer, ended = self._runtime.call(self._store, self._run, order, LONGEST_ANSWER)
        except GuestTooLarge as error:
            raise GuestStopped(error) from None
        finally:
            _interfaces.enter(None)
            with self._guard:
                self._crossing = None
            if share is not None:
                CORES.leave(share)
        if not ended:
            return answer
        if crossing.failure is not None:
            raise GuestStopped(crossing.failure)
        if crossing.ended:
            raise GuestStopped
        raise _trapped(ended, crossing.last_words)

    def stop(self) -> None:
        """End it at its next step, from any thread; it may not be called again."""
        with self._guard:
            self._must_end = True
            if self._crossing is None:
                return
            self._crossing.must_end = True
            if self._crossing.share is not None:
                CORES.stop(self._crossing.share)
        self._runtime.wake()

    def close(self) -> None:
        """Give back its memory; it must not be called any more."""
        self._store.close()


class Instance:
    """A rehearsed guest that is given one order, once.

    Args:
        guest: The guest; it belongs to the instance from now on.
    """

    def __init__(self, guest: Guest) -> None:
        self._guest = guest
        self._guard = threading.Lock()
        self._state = "new"

    def start(
        self,
        order: str,
        host: Host,
        *,
        memory_mb: int,
        done: Callable[[str | BaseException], None],
    ) -> None:
        """Carry out the order in a thread of its own.

        Args:
            order: JSON, as the guest takes it.
            host: The host of the guest; called in that thread.
            memory_mb: Memory for the script beside the interpreter itself, in MB.
            done: Called in that thread, once, with the answer, `GuestStopped` or `GuestTrapped`;
                the memory is given back after it.

        Raises:
            RuntimeError: It was started or closed before.
        """
        with self._guard:
            if self._state != "new":
                raise RuntimeError(f"an instance is started once, this one is {self._state}")
            self._state = "started"
        self._guest.bound(memory_mb)

        def work() -> None:
            try:
                ended: str | BaseException = self._guest.call(order, host, shares=True)
            except BaseException as error:  # noqa: BLE001  all of it is the caller's to know
                ended = error
            try:
                done(ended)
            finally:
                self._close()

        _RUNNING.add(self)
        try:
            self._thread = start_deep(work, "lineshaft-guest")
        except BaseException:
            self._close()
            raise

    def stop(self) -> None:
        """End the guest within milliseconds, from any thread.

        A function of the host that waits is not woken: its owner does that.
        """
        with self._guard:
            if self._state == "started":
                self._guest.stop()

    def close(self) -> None:
        """Give back an instance that was never started; stop one that was."""
        with self._guard:
            fresh = self._state == "new"
        if fresh:
            self._close()
        else:
            self.stop()

    def _close(self) -> None:
        with self._guard:
            was, self._state = self._state, "closed"
        if was != "closed":
            self._guest.close()  # out of the guard: an event loop that stops it does not wait
        _RUNNING.discard(self)


class _Running:
    """The instances of this process that carry out an order."""

    def __init__(self) -> None:
        self.renew()

    def renew(self) -> None:
        """Begin anew: the threads of a parent are not in its child."""
        self._guard = threading.Lock()
        self._instances: set[Instance] = set()

    def add(self, instance: Instance) -> None:
        """Note that an instance runs."""
        with self._guard:
            self._instances.add(instance)

    def discard(self, instance: Instance) -> None:
        """Note that an instance is over."""
        with self._guard:
            self._instances.discard(instance)

    def end(self) -> None:
        """Stop all when the process ends: a thread must not be cut short inside a guest."""
        until = time.monotonic() + _PROCESS_END
        while self._left() and time.monotonic() < until:
            time.sleep(0.001)

    def _left(self) -> bool:
        with self._guard:
            left = list(self._instances)
        for each in left:
            each.stop()
        return bool(left)


_RUNNING = _Running()
atexit.register(_RUNNING.end)
in_each_child(_RUNNING.renew)


def _bytes(memory_mb: int) -> int:
    return image().memory + (memory_mb << 20)


def _trapped(told: str, words: str) -> GuestTrapped:
    kind, message = _reason(told, words)
    return GuestTrapped(kind, message, words)


def _reason(told: str, words: str) -> tuple[TrapKind, str]:
    text = told.lower()
    if "call stack exhausted" in text:
        return "stack", "the script used up the interpreter's stack"
    if "pthread_cond" in text or "pthread_mutex" in text or "pythread_acquire" in text:
        return "deadlock", "the script waits for a lock that nothing can release"
    if any(each in words for each in ("memory allocation of", "out of memory", "MemoryError")):
        return "memory", "the script used up its memory"
    if "unknown import" in text:
        with suppress(IndexError):
            return "trap", f"the script called {told.split('`')[1]}, which is closed here"
    signs = ("Fatal Python error", "Program received fatal signal")
    fatal = [line for line in words.splitlines() if line.startswith(signs)]
    if fatal:
        return "trap", f"the interpreter broke: {fatal[0]}"
    return "trap", f"the interpreter broke: {_trap_name(told)}"


def _trap_name(told: str) -> str:
    """Return the kind of a trap, without the names of the image's functions."""
    for line in told.splitlines():
        _, found, name = line.partition("wasm trap: ")
        if found:
            return name.strip()
    return "it ended without an answer"
