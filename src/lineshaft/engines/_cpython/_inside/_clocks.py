"""The clocks of a script whose run may be executed again: what they said is said again.

What the script's own thread reads is kept, in order, and comes back in that order; after the last
of it the clocks go on from there. Other threads, and what calls functions that were imported
before, see the clocks as they are.
"""

import datetime
import math
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import ModuleType

from lineshaft.engines._cpython._inside._interpreter import other_threads, replacing
from lineshaft.engines._cpython._inside._line import line
from lineshaft.engines._reel import Reel

_NANO = 1_000_000_000
_real_sleep, _real_gettime = time.sleep, time.clock_gettime


class Standin:
    """Takes the place of a function of the interpreter; like that it never becomes a method.

    Args:
        original: What it stands for.
        act: What it does.
    """

    def __init__(self, original: object, act: Callable[..., object]) -> None:
        self.__name__: str = getattr(original, "__name__", "")
        self.__qualname__ = self.__name__
        self.__doc__ = getattr(original, "__doc__", None)
        self.__module__: str = getattr(original, "__module__", None) or ""
        self._act = act

    def __call__(self, *args: object, **kwargs: object) -> object:
        """Act."""
        return self._act(*args, **kwargs)

    def __reduce__(self) -> str:
        """Be pickled by name, as functions are."""
        return self.__name__


class Standins:
    """What is to take the place of something, all of it at once."""

    def __init__(self) -> None:
        self._functions: list[tuple[ModuleType, str, Standin]] = []
        self._methods: list[Callable[[], None]] = []

    def add(self, module: ModuleType, name: str, act: Callable[..., object]) -> None:
        """Have a function of a module do something else."""
        original: object = getattr(module, name)
        self._functions.append((module, name, Standin(original, act)))
        setattr(module, name, original)  # its memory is shared with other processes until then

    def add_methods(self, kind: type, methods: Mapping[str, Callable[..., object]]) -> None:
        """Have class methods of a class that is written in C do something else."""
        self._methods.append(replacing(kind, methods))

    def step_in(self) -> None:
        """Take the places."""
        for module, name, standin in self._functions:
            setattr(module, name, standin)
        for replace in self._methods:
            replace()


class Clock:
    """One clock, as the script sees it: it never runs backwards.

    Args:
        real: Reads it.
        reel: What was read before, and takes what is read now.
        jumps: Whether it shows the time of day, so that it may run ahead after a pause.
    """

    def __init__(self, real: Callable[[], float], reel: Reel, *, jumps: bool = False) -> None:
        self._real = real
        self._reel = reel
        self._jumps = jumps
        self._ahead = 0.0
        self.last = real()
        """What it showed last."""

    def now(self) -> float:
        """Return what it shows, and keep nothing of it."""
        return max(self._real(), self.last) if self._jumps else self._real() + self._ahead

    def read(self) -> float:
        """Return what it shows to the script."""
        if not line.is_here:
            return self.now()
        if self._reel.replays:
            return self.set(self._reel.take())
        return self.put(self.now())

    def read_ns(self) -> int:
        """Return the same in nanoseconds, as exactly as a float is."""
        return int(self.read() * _NANO)

    def put(self, value: float) -> float:
        """Show a reading that was not given, and keep it."""
        self.last = value
        self._reel.put(value)
        return value

    def set(self, value: float) -> float:
        """Show a reading of an earlier execution, and go on from there."""
        self.last = value
        self._ahead = value - self._real()
        return value


class Clocks:
    """All clocks of a process.

    Args:
        reel: What was read before, and takes what is read now.
    """

    def __init__(self, reel: Reel) -> None:
        self._reel = reel
        self.day = Clock(time.time, reel, jumps=True)
        """The time of day."""

        self.steady = Clock(time.monotonic, reel)
        """The one that timers use."""

        self._work = Clock(time.process_time, reel)
        self._own_work = Clock(time.thread_time, reel)
        self._by_id: dict[int, Clock] = {
            time.CLOCK_REALTIME: self.day,
            time.CLOCK_MONOTONIC: self.steady,
        }

    def stand_in(self, standins: "Standins") -> None:
        """Have everything read these.

        Args:
            standins: What is to take the place of something.
        """
        for name, clock in {
            "time": self.day,
            "monotonic": self.steady,
            "perf_counter": self.steady,
            "process_time": self._work,
            "thread_time": self._own_work,
        }.items():
            standins.add(time, name, clock.read)
            standins.add(time, f"{name}_ns", clock.read_ns)
        for name in ("localtime", "gmtime", "ctime"):
            standins.add(time, name, partial(self._shown, getattr(time, name)))
        standins.add(time, "asctime", partial(self._told, time.asctime))
        standins.add(time, "strftime", partial(self._told, time.strftime))
        standins.add(time, "clock_gettime", self._gettime)
        standins.add(time, "clock_gettime_ns", self._gettime_ns)
        standins.add(time, "sleep", self._sleep)
        standins.add_methods(datetime.datetime, {"now": self._now, "utcnow": self._utcnow})

    def _shown(self, original: Callable[[float], object], seconds: float | None = None) -> object:
        return original(self.day.read() if seconds is None else seconds)

    def _told(self, original: Callable[..., object], *given: object) -> object:
        with_time = 1 + (original.__name__ == "strftime")
        now = () if len(given) >= with_time else (time.localtime(),)
        return original(*given, *now)

    def _gettime(self, which: int) -> float:
        return self._of(which).read()

    def _gettime_ns(self, which: int) -> int:
        return self._of(which).read_ns()

    def _of(self, which: int) -> Clock:
        clock = self._by_id.get(which)
        if clock is None:
            clock = self._by_id[which] = Clock(partial(_real_gettime, which), self._reel)
        return clock

    def _sleep(self, seconds: float, /) -> None:
        slept = line.is_here and self._reel.replays and not other_threads()
        if not slept or not seconds > 0 or math.isinf(seconds):
            _real_sleep(seconds)
        self.steady.read()

    def _now(
        self, kind: type[datetime.datetime], tz: datetime.tzinfo | None = None
    ) -> datetime.datetime:
        return kind.fromtimestamp(self.day.read(), tz)

    def _utcnow(self, kind: type[datetime.datetime]) -> datetime.datetime:
        return self._now(kind, datetime.UTC).replace(tzinfo=None)
