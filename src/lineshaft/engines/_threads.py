"""Threads that engines run scripts from: kept for the next run, ended with their engine."""

import threading
import time
from collections.abc import Callable
from queue import SimpleQueue

_KEPT = 8

Job = Callable[[], None]


class Threads:
    """As many threads as there are jobs at once."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[SimpleQueue[Job | None]] = []
        self._live: set[threading.Thread] = set()
        self._closed = False

    def start(self, job: Job) -> None:
        """Run a job, which must not raise, in a thread of its own."""
        with self._lock:
            inbox = self._idle.pop() if self._idle else None
        if inbox is not None:
            inbox.put(job)
            return
        inbox = SimpleQueue[Job | None]()
        inbox.put(job)
        # A thread that could not be ended must not keep the program from ending.
        thread = threading.Thread(target=self._work, args=(inbox,), name=self._name, daemon=True)
        with self._lock:
            self._live.add(thread)
        thread.start()

    def close(self, seconds: float) -> None:
        """End the threads as they become idle, and wait for that.

        Args:
            seconds: How long to wait for all of them.
        """
        with self._lock:
            self._closed = True
            idle, self._idle = self._idle, []
            live = list(self._live)
        for inbox in idle:
            inbox.put(None)
        end = time.monotonic() + seconds
        for thread in live:
            if thread is not threading.current_thread():
                thread.join(max(0, end - time.monotonic()))

    def _work(self, inbox: "SimpleQueue[Job | None]") -> None:
        while (job := inbox.get()) is not None:
            job()
            del job
            with self._lock:
                if self._closed or len(self._idle) >= _KEPT:
                    break
                self._idle.append(inbox)
        with self._lock:
            self._live.discard(threading.current_thread())
