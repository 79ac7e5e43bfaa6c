"""The machines that interpreters run in, and the threads that drive them."""

import atexit
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress

from lineshaft.engines._desk import Job, Signal, Stopped, TooMuchOutput
from lineshaft.engines._micropython._artifact import compiled
from lineshaft.engines._micropython._blame import Blame
from lineshaft.engines._micropython._bridge import Bridge, out_of_memory, start_text
from lineshaft.engines._micropython._lacks import looked_for
from lineshaft.engines._micropython._lower import Lowered, lower
from lineshaft.engines._micropython._machine import Machine
from lineshaft.engines._micropython._rewrite import Lacking
from lineshaft.engines._micropython._watch import Clock, Watch
from lineshaft.engines._threads import Threads
from lineshaft.values import Crashed, Exceeded, Outcome, Stream

Report = Outcome | BaseException | None
"""What came of a run; None: it was stopped."""

MOST_MEGABYTES = 64
"""Memory of a script at most: all of it is looked through when the interpreter starts."""

_FUEL_A_SECOND = 40_000_000_000
"""More than any machine uses: the clock comes first, unless somebody holds it."""

_MOST_FUEL = 2**62
_KEPT = 8
_THREAD_BYTES = 8 * 1024 * 1024
_EXIT_SECONDS = 2.0
_STACK = "call stack exhausted"
_FUEL = "all fuel consumed"


class Run:
    """One script on its way. Methods are for its thread, except `stop`."""

    def __init__(self, job: Job, watch: Watch) -> None:
        self._job = job
        self._watch = watch
        self._lock = threading.Lock()
        self._machine: Machine | None = None
        self._stopping = False

    def stop(self) -> None:
        """Any thread: end the run at once."""
        with self._lock:
            self._stopping = True
            if self._machine is not None:
                self._machine.interrupt()
        self._job.box.put(Signal.STOP)

    def go(
        self, take: Callable[[], Machine], give_back: Callable[[Machine], None]
    ) -> Outcome | None:
        """Run the script to its end; None: it was stopped."""
        job = self._job
        try:
            lowered = lower(job.program)
        except SyntaxError as error:
            return Blame(job.program, Lowered("")).not_python(error)
        except Lacking as lacking:
            return Blame(job.program, Lowered("")).unsupported(lacking.what, lacking.line)
        missing = looked_for(job.program)
        if missing is not None:
            return Blame(job.program, Lowered("")).unsupported(missing.what, missing.line)
        machine = take()
        try:
            return self._inside(machine, lowered)
        finally:
            give_back(machine)

    def _inside(self, machine: Machine, lowered: Lowered) -> Outcome | None:
        limits = self._job.limits
        clock = Clock(self._watch, limits.seconds, self._interrupt)
        bridge = Bridge(self._job, lowered, clock, machine.interrupt)
        megabytes = min(limits.memory_mb, MOST_MEGABYTES)
        arguments = ["micropython", "-X", f"heapsize={megabytes}M", "-c", start_text()]
        fuel = int(min(limits.seconds * _FUEL_A_SECOND, _MOST_FUEL))
        with self._lock:
            if self._stopping:
                return None
            self._machine = machine
        self._watch.add(clock)
        clock.start()
        try:
            stopped_by = machine.run(bridge, arguments, heap=megabytes * 1024 * 1024, fuel=fuel)
        finally:
            with self._lock:
                self._machine = None
            clock.pause()
            self._watch.remove(clock)
        return self._outcome(bridge, clock, stopped_by)

    def _interrupt(self) -> None:
        """Watch: the time is over."""
        with self._lock:
            if self._machine is not None:
                self._machine.interrupt()

    def _outcome(self, bridge: Bridge, clock: Clock, stopped_by: str) -> Outcome | None:
        desk = self._job.desk
        if bridge.failed is not None:
            raise bridge.failed
        if desk.exceeded is not None:
            return _flooded(desk.exceeded)
        if bridge.outcome is not None:
            return bridge.outcome
        if desk.overslept:
            return self._too_long("slept")
        if bridge.stopped or self._stopping:
            return None
        with suppress(Stopped, TooMuchOutput):
            bridge.flush()
        return self._ended_by(bridge, clock, stopped_by)

    def _ended_by(self, bridge: Bridge, clock: Clock, stopped_by: str) -> Outcome:
        """Return what it means that the interpreter stopped by itself, or by its bounds."""
        if clock.is_over or _FUEL in stopped_by:
            return self._too_long("ran")
        if _STACK in stopped_by:
            message = "the script went deeper than this engine can follow"
            return Exceeded(limit="recursion", message=message)
        if "MemoryError" in bridge.last_words:
            return out_of_memory(self._job.limits.memory_mb)
        return Crashed(message="the interpreter stopped: " + (stopped_by.splitlines() or [""])[-1])

    def _too_long(self, what: str) -> Exceeded:
        message = f"the script {what} for more than {self._job.limits.seconds:g} s"
        return Exceeded(limit="seconds", message=message)


def _flooded(stream: Stream) -> Exceeded:
    limit = "stdout_bytes" if stream == "stdout" else "stderr_bytes"
    return Exceeded(limit=limit, message=f"the script printed too much to {stream}")


class _BigStacks:
    """While it is entered, new threads have room for the machine code of an interpreter."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._before = 0

    def __enter__(self) -> None:
        self._lock.acquire()
        self._before = threading.stack_size(_THREAD_BYTES)

    def __exit__(self, *error: object) -> None:
        threading.stack_size(self._before)
        self._lock.release()


_BIG_STACKS = _BigStacks()


class Interpreters:
    """Started once, closed once. Methods are for any thread."""

    def __init__(self) -> None:
        self._compiled = compiled()
        self._watch = Watch()
        self._threads = Threads("lineshaft-micropython")
        self._lock = threading.Lock()
        self._idle: list[Machine] = [Machine(self._compiled)]
        self._runs: set[Run] = set()
        self._closed = False
        _open.add(self)

    def start(self, job: Job, report: Callable[[Report], None]) -> Run:
        """Begin to run a script; what came of it is reported from another thread."""
        run = Run(job, self._watch)
        with self._lock:
            self._runs.add(run)
            closed = self._closed

        def work() -> None:
            try:
                came = run.go(self._take, self._give_back)
            except BaseException as error:  # noqa: BLE001  whoever awaits the run gets it
                came = error
            with self._lock:
                self._runs.discard(run)
            report(came)

        if closed:
            run.stop()
        with _BIG_STACKS:
            self._threads.start(work)
        return run

    def _take(self) -> Machine:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        return Machine(self._compiled)

    def _give_back(self, machine: Machine) -> None:
        with self._lock:
            if len(self._idle) < _KEPT:
                self._idle.append(machine)

    def close(self) -> None:
        """End all runs and threads."""
        with self._lock:
            self._closed = True
            runs = list(self._runs)
        for run in runs:
            run.stop()
        self._threads.close(_EXIT_SECONDS)
        self._watch.close()
        _open.discard(self)


_open: "weakref.WeakSet[Interpreters]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A thread that is inside the runtime when the interpreter goes away takes it down hard.
    for interpreters in list(_open):
        interpreters.close()
