"""One script on its way through an interpreter."""

import threading
from contextlib import suppress

from lineshaft.engines._desk import Job, Signal, Stopped, TooMuchOutput
from lineshaft.engines._micropython._blame import Blame
from lineshaft.engines._micropython._bridge import Bridge, out_of_memory
from lineshaft.engines._micropython._lacks import lowered_of
from lineshaft.engines._micropython._lower import Lowered
from lineshaft.engines._micropython._machine import Machine
from lineshaft.engines._micropython._rewrite import Lacking
from lineshaft.engines._micropython._watch import Clock, Watch
from lineshaft.values import Crashed, Exceeded, Outcome, Stream

_FUEL_A_SECOND = 40_000_000_000
"""More than any machine uses: the clock comes first, unless somebody holds it."""

_MOST_FUEL = 2**62
_STACK = "call stack exhausted"
_FUEL = "all fuel consumed"


class Run:
    """One script. Methods are for the thread of its interpreter, except `stop`."""

    def __init__(self, job: Job, watch: Watch) -> None:
        self._job = job
        self._watch = watch
        self._lock = threading.Lock()
        self._machine: Machine | None = None
        self._stopping = False
        self._clock = Clock(watch, job.limits.seconds, self._interrupt)
        self._bridge: Bridge | None = None
        self.early: Outcome | None = None
        """What came of it before an interpreter was needed."""

    @property
    def fuel(self) -> int:
        """How much it may compute, in instructions."""
        return int(min(self._job.limits.seconds * _FUEL_A_SECOND, _MOST_FUEL))

    def stop(self) -> None:
        """Any thread: end the run at once."""
        with self._lock:
            self._stopping = True
            if self._machine is not None:
                self._machine.interrupt()
        self._job.box.put(Signal.STOP)

    def begin(self, machine: Machine) -> Bridge | None:
        """Return who serves the script in a machine from now on; None: see `early`."""
        program = self._job.program
        try:
            lowered = lowered_of(program)
        except SyntaxError as error:
            self.early = Blame(program, Lowered("")).not_python(error)
            return None
        except Lacking as lacking:
            self.early = Blame(program, Lowered("")).unsupported(lacking.what, lacking.line)
            return None
        with self._lock:
            if self._stopping:
                return None
            self._machine = machine
        self._bridge = Bridge(self._job, lowered, self._clock, machine.interrupt)
        self._watch.add(self._clock)
        self._clock.start()
        return self._bridge

    def end(self, stopped_by: str) -> Outcome | None:
        """Return what came of it; None: it was stopped.

        Args:
            stopped_by: What the machine says of how its interpreter ended.
        """
        with self._lock:
            self._machine = None
        self._clock.pause()
        self._watch.remove(self._clock)
        if self._bridge is None:
            return Crashed(message="the interpreter did not start: " + _last_line(stopped_by))
        return self._outcome(self._bridge, self._clock, stopped_by)

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
        return Crashed(message="the interpreter stopped: " + _last_line(stopped_by))

    def _too_long(self, what: str) -> Exceeded:
        message = f"the script {what} for more than {self._job.limits.seconds:g} s"
        return Exceeded(limit="seconds", message=message)


def _flooded(stream: Stream) -> Exceeded:
    limit = "stdout_bytes" if stream == "stdout" else "stderr_bytes"
    return Exceeded(limit=limit, message=f"the script printed too much to {stream}")


def _last_line(text: str) -> str:
    return (text.splitlines() or [""])[-1].strip()
