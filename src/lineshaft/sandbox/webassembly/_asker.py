"""A kept instance that answers many questions and never runs a script."""

import os
import threading
from typing import TYPE_CHECKING

from lineshaft.sandbox.webassembly._pool import DeepJob, RehearsalHost, new_guest

if TYPE_CHECKING:
    from lineshaft.sandbox.webassembly._instance import Guest


class _QuietHost(RehearsalHost):
    """The host of a guest that never waits."""

    def turn(self, seconds: float, requests: str) -> str:
        """End the guest: no question makes it wait."""
        raise RuntimeError("an instance that runs no script has nothing to wait for")


class Asker:
    """An instance of the image that reads or compiles; replaced when it breaks.

    Usable from any thread, one question at a time, and in a forked child, which makes its own.

    Args:
        seconds: How long an answer may take.
        memory_mb: Its memory beside the interpreter itself, in MB.
    """

    def __init__(self, *, seconds: float = 5.0, memory_mb: int = 256) -> None:
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._turn = threading.Lock()
        self._guest: Guest | None = None

    def ask(self, order: str, seconds: float | None = None) -> str:
        """Give an order and wait for its answer.

        Args:
            order: JSON, as the guest takes it.
            seconds: Time for this answer, where it differs from the usual one.

        Raises:
            GuestStopped: It took too long; the instance is replaced.
            GuestTrapped: It broke; the instance is replaced.
            WasmUnavailable: This machine or installation cannot run it.
        """
        if self._process != os.getpid():
            self._begin()
        with self._turn:
            if self._guest is None:
                self._guest = DeepJob(self._make).start().result()
            guest = self._guest
            job = DeepJob(lambda: guest.call(order, _QuietHost())).start()
            try:
                if not job.wait(self._seconds if seconds is None else seconds):
                    guest.stop()
                return job.result()
            except BaseException:
                self._guest = None
                guest.stop()
                job.wait()
                guest.close()
                raise

    def close(self) -> None:
        """Give back the instance; the next question makes another."""
        if self._process != os.getpid():
            self._begin()
        with self._turn:
            guest, self._guest = self._guest, None
            if guest is not None:
                guest.close()

    def _make(self) -> "Guest":
        guest = new_guest()
        guest.bound(self._memory_mb)
        return guest
