"""Interpreters that wait for scripts, each in a thread of its own.

An interpreter serves one script. Its thread then starts the next one, up to the point where it
asks what to run: so a script finds a fresh one that has its start behind it.
"""

import atexit
import threading
import weakref
from collections.abc import Callable
from queue import SimpleQueue

from lineshaft.engines._desk import Job
from lineshaft.engines._micropython._artifact import Compiled, compiled
from lineshaft.engines._micropython._bridge import Bridge, guest_module, start_text
from lineshaft.engines._micropython._machine import Machine
from lineshaft.engines._micropython._run import Run
from lineshaft.engines._micropython._watch import Watch
from lineshaft.engines._threaded import Report
from lineshaft.engines._threads import Threads

MOST_MEGABYTES = 64
"""Memory of a script at most: all of it is looked through when an interpreter starts."""

_START_FUEL = 1_000_000_000
_KEPT = 4
_AHEAD = 2
"""Interpreters of a size that wait where scripts of that size come."""

_THREAD_BYTES = 8 * 1024 * 1024
_EXIT_SECONDS = 2.0

Order = tuple[Run, Callable[[Report], None]]


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


class Berth:
    """One thread's place for interpreters, one after another."""

    def __init__(
        self, code: Compiled, megabytes: int, done: Callable[["Berth", Run], bool]
    ) -> None:
        self.megabytes = megabytes
        self._machine = Machine(code)
        self._done = done
        self._orders = SimpleQueue[Order | None]()
        self._order: Order | None = None
        self._bridge: Bridge | None = None
        self._closed = False
        self._kept = True
        self._served = False
        """What came of the script was told before its interpreter was gone."""

    def give(self, order: Order | None) -> None:
        """Any thread: have a script run; None: end."""
        self._orders.put(order)

    def work(self) -> None:
        """Run scripts until told to end, or not needed any more."""
        arguments = ["micropython", "-X", f"heapsize={self.megabytes}M", "-c", start_text()]
        heap = self.megabytes * 1024 * 1024
        while self._kept and not self._closed:
            self._bridge, self._served = None, False
            stopped_by = self._machine.run(self, arguments, heap=heap, fuel=_START_FUEL)
            if self._closed:
                return
            if self._served:
                continue
            # An interpreter that does not come to its start serves the next script like that.
            order = self._order or self._orders.get()
            self._order = None
            if order is not None:
                self._settle(order, lambda run, by=stopped_by: run.end(by))

    def _settle(self, order: Order, outcome: Callable[[Run], Report]) -> None:
        run, report = order
        try:
            came = outcome(run)
        except BaseException as error:  # noqa: BLE001  whoever awaits the run gets it
            came = error
        self._kept = self._done(self, run)
        report(came)

    def ask(self, what: bytes, text: bytes) -> bytes:
        """Answer a question of the interpreter; the first one is what to run."""
        if self._bridge is None:
            self._bridge = self._next()
        if self._bridge is None:
            self._machine.interrupt()
            return b"."
        answer = self._bridge.ask(what, text)
        if self._bridge.outcome is not None and self._order is not None:
            order, self._order = self._order, None  # the interpreter does nothing more of it
            self._served = True
            self._settle(order, lambda run: run.end(""))
        return answer

    def _next(self) -> Bridge | None:
        """Wait for a script; None: there will be none."""
        while self._kept:
            order = self._orders.get()
            if order is None:
                self._closed = True
                return None
            bridge = self._begin(order)
            if bridge is not None:
                self._order = order
                return bridge
        return None

    def _begin(self, order: Order) -> Bridge | None:
        run, _ = order
        try:
            bridge = run.begin(self._machine)
        except Exception as error:  # noqa: BLE001  whoever awaits the run gets it
            self._settle(order, lambda run, error=error: error)
            return None
        if bridge is None:
            self._settle(order, lambda run: run.early)
        else:
            self._machine.refuel(run.fuel)
        return bridge

    def module(self, name: str) -> bytes:
        """Return a compiled module; empty where there is none."""
        return guest_module(name)

    def write(self, handle: int, data: bytes) -> None:
        """Take printed text."""
        if self._bridge is not None:
            self._bridge.write(handle, data)


class Interpreters:
    """Started once, closed once. Methods are for any thread."""

    def __init__(self) -> None:
        self._code = compiled()
        self._watch = Watch()
        self._threads = Threads("lineshaft-micropython")
        self._lock = threading.Lock()
        self._idle: list[Berth] = []
        self._runs: set[Run] = set()
        self._closed = False
        _open.add(self)

    def start(self, job: Job, report: Callable[[Report], None]) -> Run:
        """Begin to run a script; what came of it is reported from another thread."""
        run = Run(job, self._watch)
        megabytes = max(1, min(job.limits.memory_mb, MOST_MEGABYTES))
        with self._lock:
            self._runs.add(run)
            closed = self._closed
            fit = [berth for berth in self._idle if berth.megabytes == megabytes]
            if fit:
                self._idle.remove(fit[0])
        if closed:
            run.stop()
        berth = fit[0] if fit else self._new(megabytes)
        berth.give((run, report))
        if len(fit) < _AHEAD and not closed:
            self._add(self._new(megabytes))
        return run

    def _new(self, megabytes: int) -> Berth:
        berth = Berth(self._code, megabytes, self._done)
        with _BIG_STACKS:
            self._threads.start(berth.work)
        return berth

    def _add(self, berth: Berth) -> bool:
        """Keep a berth for further scripts, if that is wanted."""
        with self._lock:
            if self._closed:
                surplus: Berth | None = berth
            else:
                self._idle.append(berth)
                surplus = self._idle.pop(0) if len(self._idle) > _KEPT else None
        if surplus is not None:
            surplus.give(None)
        return surplus is not berth

    def _done(self, berth: Berth, run: Run) -> bool:
        """Return whether a berth is kept for further scripts."""
        with self._lock:
            self._runs.discard(run)
        return self._add(berth)

    def close(self) -> None:
        """End all runs and threads."""
        with self._lock:
            self._closed = True
            runs, idle = list(self._runs), self._idle
            self._idle = []
        for run in runs:
            run.stop()
        for berth in idle:
            berth.give(None)
        self._threads.close(_EXIT_SECONDS)
        self._watch.close()
        _open.discard(self)


_open: "weakref.WeakSet[Interpreters]" = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    # A thread that is inside the runtime when the interpreter goes away takes it down hard.
    for interpreters in list(_open):
        interpreters.close()
