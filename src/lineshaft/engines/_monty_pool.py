"""The worker processes of the small engine, and the threads that drive them."""

import atexit
import threading
import weakref
from collections.abc import Callable

from pydantic_monty import Monty, MontySession, OSPolicy, ResourceLimits

from lineshaft.engines._desk import Job
from lineshaft.engines._exchange import modules_of
from lineshaft.engines._lower import lower
from lineshaft.engines._monty_clocks import reads_clock_at_one_go
from lineshaft.engines._seat import Seat
from lineshaft.engines._signals import unsignalled
from lineshaft.engines._slots import Slots
from lineshaft.engines._state import Progress, digest, load
from lineshaft.engines._stepper import Stepper
from lineshaft.engines._threaded import Report
from lineshaft.engines._threads import Threads
from lineshaft.errors import EngineCrashed
from lineshaft.values import Crashed, Limits, Outcome, Program

_UNCOUNTED = 2**31 - 1
"""Calls are counted at the gate."""

_EXIT_SECONDS = 2.0


def _go(job: Job, seat: Seat) -> Outcome | None:
    lowered = lower(job.program)
    progress, dump = Progress(script=digest(lowered.text)), None
    if job.resume is not None:
        try:
            progress, dump = load(job.resume, progress.script)
        except EngineCrashed as error:
            return Crashed(message=f"{error.message}; {error.hint}")
    tape = job.program.tape
    if tape is not None and reads_clock_at_one_go(job.program.source):
        tape.torn = True
    return Stepper(job, lowered, progress, seat).run(dump)


class Workers:
    """Started once, closed once. Methods are for any thread."""

    def __init__(self, count: int) -> None:
        self.slots = Slots(count)
        self.threads = Threads("lineshaft-monty")
        self._pool = Monty(max_processes=count)
        with unsignalled():
            self._pool.__enter__()
        self._seats: set[Seat] = set()
        self._lock = threading.Lock()
        self._closed = False
        _open.add(self)

    def start(self, job: Job, report: Callable[[Report], None]) -> Seat:
        """Begin to go through a script; what came of it is reported from another thread."""
        seat = Seat(self.slots, job.box, lambda: self._checkout(job.program, job.limits))
        with self._lock:
            self._seats.add(seat)
            closed = self._closed

        def work() -> None:
            try:
                came = _go(job, seat)
            except BaseException as error:  # noqa: BLE001  whoever awaits the run gets it
                came = error
            with self._lock:
                self._seats.discard(seat)
            report(came)

        if closed:
            seat.stop()
        self.threads.start(work)
        return seat

    def _checkout(self, program: Program, limits: Limits) -> MontySession:
        bounds: ResourceLimits = {
            "max_feed_duration_secs": limits.seconds,
            "max_turn_duration_secs": limits.seconds,
            "max_memory": limits.memory_mb * 1_000_000,
            "max_recursion_depth": limits.recursion,
            "max_suspensions": _UNCOUNTED,
        }
        asks: OSPolicy = {"sleep": "call_host"}
        if program.tape is not None:
            asks["random_start"] = {"seed": program.tape.seed}
            if not program.tape.torn:
                asks["datetime"] = "call_host"
        return self._pool.checkout(
            limits=bounds, os_policy=asks, external_modules=modules_of(program)
        )

    def close(self) -> None:
        """End all runs, then all threads and processes."""
        with self._lock:
            self._closed = True
            seats = list(self._seats)
        for seat in seats:
            seat.stop()
        self.threads.close(_EXIT_SECONDS)
        self._pool.__exit__(None, None, None)
        _open.discard(self)


_open: "weakref.WeakSet[Workers]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A thread that is inside the engine when the interpreter goes away takes it down hard.
    for workers in list(_open):
        workers.close()
