"""Clocks of a run: its own time, which stands still while only approvals are awaited."""

import time
from collections.abc import Callable

from lineshaft.engines.host.protocol import RunEnded
from lineshaft.engines.host.readings import OutOfStep, Readings
from lineshaft.values import Diverged, ReplayInputs

_NANOSECONDS = 1_000_000_000


class Clocks:
    """A script's readings of time, kept so that they can be read again.

    Args:
        replay: Inputs of the run's earlier segments, to which more are added; None: none are kept.
        clock: Seconds of the run; None: those of `time.monotonic`.
    """

    def __init__(self, replay: ReplayInputs | None, clock: Callable[[], float] | None) -> None:
        self._replay = replay
        self._clock = clock
        past = replay.readings if replay is not None else b""
        self._given = len(past)
        self._readings = Readings(past, most=8_000_000 if replay is not None else 0)

    def monotonic(self) -> int:
        """Return nanoseconds since the run began.

        Raises:
            RunEnded: The record has no such reading.
        """
        try:
            return self._told(self._readings.monotonic(self._now()))
        except OutOfStep as error:
            raise RunEnded(Diverged(message=str(error))) from None

    def wall(self) -> int:
        """Return nanoseconds since the epoch.

        Raises:
            RunEnded: The record has no such reading.
        """
        try:
            return self._told(self._readings.wall(self._now(), time.time_ns()))
        except OutOfStep as error:
            raise RunEnded(Diverged(message=str(error))) from None

    def live(self) -> None:
        """Take readings from the clock from now on.

        Raises:
            RunEnded: The record has further readings.
        """
        try:
            self._readings.live(self._now())
        except OutOfStep as error:
            raise RunEnded(Diverged(message=str(error))) from None

    def finished(self) -> None:
        """Note that the script has ended.

        Raises:
            RunEnded: The record has further readings.
        """
        try:
            self._readings.finished()
        except OutOfStep as error:
            raise RunEnded(Diverged(message=str(error))) from None

    def fresh(self) -> bytes:
        """Return the readings since this was asked last."""
        readings = self._readings.taken(self._given)
        self._given += len(readings)
        return readings

    def store(self) -> None:
        """Write the readings to the run's replay inputs."""
        if self._replay is not None:
            self._replay.readings = self._readings.taken()
            self._replay.torn = self._replay.torn or self._readings.torn

    def _told(self, reading: int) -> int:
        """Return a reading; a run that takes too many cannot pause from then on."""
        if self._readings.torn and self._replay is not None:
            self._replay.torn = True
        return reading

    def _now(self) -> int:
        if self._clock is None:
            return time.monotonic_ns()
        return int(self._clock() * _NANOSECONDS)
