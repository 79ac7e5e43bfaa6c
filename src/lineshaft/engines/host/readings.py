"""Readings of clocks and random bytes of a run: played back in order, or taken and kept.

Below: nothing but the standard library, so that both ends of a wire can use it.

A reading is kept as the nanoseconds since the reading before it: a number in groups of seven bits,
the lowest group first, each but the last with its eighth bit set. The lowest bit of the number says
what it is: 0, a step of the clock; 1, a new base of wall time (nanoseconds since the epoch that
belong to 0 on the monotonic clock), which counts for the wall time after it.
"""

import hashlib
from contextlib import suppress

_DRIFT = 500_000_000
"""Nanoseconds that wall time may be off before it gets a new base."""

_BEGUN = b"\1"
"""The start of each run's readings, so that a run that was begun has some: base 0."""

_FIRST = 3_600_000_000_000
"""Nanoseconds on the monotonic clock when a run begins: programs take 0 for long ago."""


_ROOM = 1 << 16
"""Bytes that there is room for from the start."""


class OutOfStep(Exception):
    """Clocks are read more often, or less often, than the record says."""


class Readings:
    """The clocks of one run, in all its parts.

    Args:
        past: Readings of earlier segments, in order; empty: there was no earlier segment.
        most: Bytes that are kept.
    """

    def __init__(self, past: bytes = b"", *, most: int = 8_000_000) -> None:
        # As large at first as in a replay: what a guest keeps itself must not move its own objects.
        begun = past or _BEGUN
        self._kept = bytearray(max(_ROOM, len(begun)))
        self._kept[: len(begun)] = begun
        self._end = len(begun)
        self._most = most
        self._at = 0
        self._monotonic = _FIRST
        self._base = 0
        self._zero: int | None = None
        """The time on the run's clock that is 0 here."""

        self.playing = bool(past)
        """Whether readings are those of the record."""

        self.torn = False
        """There were more than are kept."""

        if self.playing:
            with suppress(OutOfStep):  # the first reading will find it
                self._play_bases()

    def monotonic(self, now: int) -> int:
        """Return nanoseconds that only grow.

        Args:
            now: Nanoseconds on the run's clock, from wherever it counts.
        """
        if self.playing:
            return self._play()
        return self._take(now)

    def wall(self, now: int, wall: int) -> int:
        """Return nanoseconds since the epoch.

        Args:
            now: Nanoseconds on the run's clock.
            wall: Nanoseconds since the epoch, in truth.
        """
        if self.playing:
            return self._play() + self._base
        monotonic = self._take(now)
        if abs(wall - monotonic - self._base) > _DRIFT:
            self._base = max(wall - monotonic, 0)
            self._keep(self._base << 1 | 1)
        return monotonic + self._base

    def live(self, now: int) -> None:
        """Take readings from the clock from now on.

        Args:
            now: Nanoseconds on the run's clock.

        Raises:
            OutOfStep: The record has further readings.
        """
        if self.playing:
            self.finished()
            self.playing = False
            self._base = 0
            self._zero = now - self._monotonic

    def finished(self) -> None:
        """Check that the record has no further readings.

        Raises:
            OutOfStep: The record has further readings.
        """
        if self.playing and self._at < self._end:
            raise OutOfStep("the script reads clocks less often than its record says")

    def taken(self, after: int = 0) -> bytes:
        """Return the readings so far, those of the past included.

        Args:
            after: Bytes of them that are left out.
        """
        return bytes(self._kept[after : self._end])

    def _take(self, now: int) -> int:
        if self._zero is None:
            self._zero = now - _FIRST
        step = max(now - self._zero - self._monotonic, 0)
        self._keep(step << 1)
        self._monotonic += step
        return self._monotonic

    def _keep(self, number: int) -> None:
        if self.torn or self._end >= self._most:
            self.torn = True
            return
        while number > 0x7F:
            self._put(number & 0x7F | 0x80)
            number >>= 7
        self._put(number)

    def _put(self, byte: int) -> None:
        if self._end == len(self._kept):
            self._kept.extend(bytes(self._end))
        self._kept[self._end] = byte
        self._end += 1

    def _play(self) -> int:
        self._monotonic += self._next() >> 1
        self._play_bases()
        return self._monotonic

    def _play_bases(self) -> None:
        while self._at < self._end and self._kept[self._at] & 1:
            self._base = self._next() >> 1

    def _next(self) -> int:
        number = shift = 0
        kept = self._kept
        while self._at < self._end:
            byte = kept[self._at]
            self._at += 1
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
        raise OutOfStep("the script reads clocks more often than its record says")


class RandomStream:
    """Random bytes that follow from a seed: the same requests get the same bytes.

    Args:
        seed: Text.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed.encode()
        self._requests = 0
        self.taken = 0
        """Bytes so far."""

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        block = self._seed + self._requests.to_bytes(8, "little")
        self._requests += 1
        self.taken += count
        return hashlib.shake_256(block).digest(count)
