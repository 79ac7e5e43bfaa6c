"""Clocks of a script: every reading comes from one clock of its run, in order, and is kept.

They stand in place before the guest looks for them, and show the machine's time until a run begins.
"""

import datetime
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import NoReturn

from lineshaft.engines.cpython.inside._standins import Standins
from lineshaft.engines.host.readings import OutOfStep, Readings

_NANO = 1_000_000_000
_MOST = 8_000_000
_monotonic_ns, _time_ns = time.monotonic_ns, time.time_ns
_REAL_TIME = frozenset(
    number
    for name in ("CLOCK_REALTIME", "CLOCK_TAI", "CLOCK_REALTIME_COARSE")
    if (number := getattr(time, name, None)) is not None
)


class ProcessClocks:
    """All clocks of a process."""

    def __init__(self) -> None:
        self._readings: Readings | None = None
        self._told = 0
        self._torn_told = True
        self._ahead = 0
        self._diverged: Callable[[str], NoReturn] | None = None

    def begin(self, past: bytes | None, *, now: int, diverged: Callable[[str], NoReturn]) -> None:
        """Show the time of a run from now on.

        Args:
            past: Readings of its earlier segments; None: none are kept.
            now: Nanoseconds on its clock.
            diverged: Called when more is read than the record has.
        """
        self._readings = Readings(past or b"", most=0 if past is None else _MOST)
        self._told = len(past or b"")
        self._torn_told = past is None
        self._ahead = now - _monotonic_ns()
        self._diverged = diverged

    def follow(self, now: int, *, live: bool) -> None:
        """Take the host's message about the run's clock.

        Args:
            now: Nanoseconds on it.
            live: Whether readings are taken from it from now on.
        """
        self._ahead = now - _monotonic_ns()
        if live and self._readings is not None:
            self._readings.live(now)

    @property
    def behind(self) -> bool:
        """Whether the record has further readings."""
        try:
            if self._readings is not None:
                self._readings.finished()
        except OutOfStep:
            return True
        return False

    def taken(self) -> tuple[bytes, bool]:
        """Return the readings since the last time, and whether there were more than are kept."""
        readings = self._readings
        if readings is None or self._torn_told:
            return b"", False
        fresh = readings.taken(self._told)
        self._told += len(fresh)
        self._torn_told = readings.torn
        return fresh, readings.torn

    def monotonic_ns(self) -> int:
        """Return nanoseconds that only grow."""
        now = _monotonic_ns()
        readings = self._readings
        if readings is None:
            return now
        try:
            return readings.monotonic(now + self._ahead)
        except OutOfStep as error:
            self._end(error)

    def wall_ns(self) -> int:
        """Return nanoseconds since the epoch."""
        readings = self._readings
        if readings is None:
            return _time_ns()
        try:
            return readings.wall(_monotonic_ns() + self._ahead, _time_ns())
        except OutOfStep as error:
            self._end(error)

    def stand_in(self, standins: Standins) -> None:
        """Make all code read these clocks.

        Args:
            standins: The stand-ins to put in place.
        """
        for name in ("monotonic", "perf_counter", "process_time", "thread_time"):
            standins.add(time, name, self._monotonic)
            standins.add(time, f"{name}_ns", self.monotonic_ns)
        standins.add(time, "time", self._wall)
        standins.add(time, "time_ns", self.wall_ns)
        for name in ("localtime", "gmtime", "ctime"):
            standins.add(time, name, partial(self._shown, getattr(time, name)))
        standins.add(time, "asctime", partial(self._told_of, time.asctime, 1))
        standins.add(time, "strftime", partial(self._told_of, time.strftime, 2))
        standins.add(time, "clock_gettime", self._gettime)
        standins.add(time, "clock_gettime_ns", self._gettime_ns)
        standins.add_methods(datetime.datetime, {"now": self._now, "utcnow": self._utcnow})

    def _end(self, error: OutOfStep) -> NoReturn:
        if self._diverged is None:
            raise error
        self._diverged(str(error))

    def _monotonic(self) -> float:
        return self.monotonic_ns() / _NANO

    def _wall(self) -> float:
        return self.wall_ns() / _NANO

    def _shown(self, original: Callable[[float], object], seconds: float | None = None) -> object:
        return original(self._wall() if seconds is None else seconds)

    def _told_of(self, original: Callable[..., object], most: int, *given: object) -> object:
        now = () if len(given) >= most else (time.localtime(),)
        return original(*given, *now)

    def _gettime(self, which: int) -> float:
        return self._gettime_ns(which) / _NANO

    def _gettime_ns(self, which: int) -> int:
        if sys.platform != "win32":
            time.clock_getres(which)  # raises where there is no such clock
        return self.wall_ns() if which in _REAL_TIME else self.monotonic_ns()

    def _now(
        self, kind: type[datetime.datetime], tz: datetime.tzinfo | None = None
    ) -> datetime.datetime:
        return kind.fromtimestamp(self._wall(), tz)

    def _utcnow(self, kind: type[datetime.datetime]) -> datetime.datetime:
        return self._now(kind, datetime.UTC).replace(tzinfo=None)
